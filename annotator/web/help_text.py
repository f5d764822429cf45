"""The words of the page Help, in the order in which they stand there."""

WHAT = """
Search results are only as good as what they are measured against. Here, people who know the subject grade
*pairs*: a query with one document that a search proposed for it. Two or more grade each pair without seeing
each other's answers; where they differ, a lead settles the grade and says why. The settled grades are
published as a release, which evaluation programs read.
"""
KEYS = """
<p><kbd>0</kbd> <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> give the grade and show the next pair.
<kbd>U</kbd> cannot be rated. <kbd>L</kbd> puts the pair off for later.
<kbd>Z</kbd> or <kbd>Backspace</kbd> goes back to the pair before; a grade there changes yours.
<kbd>N</kbd> goes to the note, <kbd>Esc</kbd> returns to the keys.</p>
"""
STATUSES = """
- **unjudged**: nobody has graded it; **unrateable**: whoever looked said that it cannot be rated. Neither is ever grade 0.
- **single**: one grade, nobody's second opinion; **unanimous**: two or more, all the same.
- **disagreement**: the grades differ; it has none until a lead decides it; then it is **adjudicated**.
- **imported**: its grade comes from an earlier ground truth and is kept. It is handed to nobody; leads can have it judged again.
"""
RELEASES = """
- On *Releases*, under *Next release*, stand the gates: what a release needs, what is measured, and where the work is. A gate
  that is not met can be overridden with a reason, which the release keeps for ever.
- Before you publish you see what would change against the latest release, and which version that calls for. What is
  published is never changed.
- Under *Published* you look up any grade of any release: choose it, and you see the judgments, notes and the decision behind it.
  *Files* downloads one format for its evaluator, or everything.
"""
RECORDED = """
- Every answer with its time, how long the pair was on screen, your note, and the version of the guideline. A changed
  grade is added to the record; the earlier one stays in it.
- A grade counts once the server has it. Until then it is kept in this browser, and the page says how many are
  *not saved yet*; you can close the tab, they are sent when you come back.
- Your sign-ins end by themselves after some hours, and on the page *Account* at any time.
"""
SEEN = """
- **Other annotators** see neither your grades nor your notes.
- **Leads** see who has judged how much, how well annotators agree, and, once a pair has been judged, its grades
  and notes. When they settle a disagreement, the annotators are shown without names.
- **Releases** carry numbers (annotator_1, annotator_2 …), never names.
- You do not see which search proposed a document, or at what rank: it would sway you.
"""

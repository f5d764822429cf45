"""What Streamlit writes in English only is known, word for word, so that the pages can put it in the reader's language."""

from pathlib import Path

import streamlit

from annotator.web.sidebar import STREAMLITS_WORDS

BUILT = {
    "{mb} MB per file": " per file",
    "Press {key} to apply": "Press Enter to ",
    "Press {key} to submit form": "Press Enter to ",
    "Remove {option}": "Remove ${",
}
"""Words that Streamlit puts together."""


def test_streamlit_still_writes_the_words_that_the_pages_replace() -> None:
    folder = Path(streamlit.__file__).parent / "static" / "static" / "js"
    scripts = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.js")))
    missing = [words for words in STREAMLITS_WORDS if BUILT.get(words, words) not in scripts]
    assert missing == []


def test_the_script_knows_each_word_that_is_put_together() -> None:
    script = (Path(__file__).parents[3] / "annotator" / "web" / "streamlit_words.js").read_text("utf-8")
    assert 'words["{mb} MB per file"]' in script and 'words["Remove {option}"]' in script
    assert "`Press {key} to ${enter[2]}`" in script and "(apply|submit form)" in script

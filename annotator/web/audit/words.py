"""Describe an entry of the audit log in the reader's language: action, object and details.

Details are stored as English names with values. A name that is missing in DETAIL_NAMES (such as an import's
figures) is shown as stored.
"""

import json
from collections.abc import Mapping
from typing import Any

from annotator.audit.records import REMOVED, AuditEntry
from annotator.domain.audit import AuditAction, PersonalField
from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.web.importing.words import KIND_NAMES, name_kind
from annotator.web.kit.messages import join_names, tr
from annotator.web.kit.words import name_role
from annotator.web.pooling.words import name_strategy

ACTION_NAMES: Mapping[AuditAction, Message] = {
    AuditAction.signed_in: say("Sign-in succeeded"),
    AuditAction.sign_in_failed: say("Sign-in failed"),
    AuditAction.sign_in_limited: say("Too many failed sign-ins"),
    AuditAction.signed_out: say("Signed out"),
    AuditAction.signed_out_everywhere: say("Signed out in all other browsers"),
    AuditAction.account_made: say("Created an account"),
    AuditAction.account_renamed: say("Changed a person's name"),
    AuditAction.account_disabled: say("Disabled an account"),
    AuditAction.account_enabled: say("Enabled an account"),
    AuditAction.account_pseudonymised: say("Pseudonymised an account"),
    AuditAction.role_given: say("Gave a role"),
    AuditAction.role_taken: say("Removed a role"),
    AuditAction.expertise_changed: say("Changed what a person judges"),
    AuditAction.password_changed: say("Chose a new password"),
    AuditAction.password_reset: say("Made a one-time password"),
    AuditAction.password_link_made: say("Made a link for a new password"),
    AuditAction.second_factor_set_up: say("Set up a second factor"),
    AuditAction.second_factor_removed: say("Removed their second factor"),
    AuditAction.second_factor_reset: say("Removed a person's second factor"),
    AuditAction.second_factor_failed: say("Entered a wrong code"),
    AuditAction.recovery_code_used: say("Used a recovery code"),
    AuditAction.invited: say("Invited a person"),
    AuditAction.invitation_revoked: say("Revoked an invitation"),
    AuditAction.invitation_used: say("Joined by invitation"),
    AuditAction.identity_linked: say("Linked an account to the identity provider"),
    AuditAction.dataset_made: say("Created a dataset"),
    AuditAction.settings_changed: say("Changed settings"),
    AuditAction.dataset_archived: say("Archived the dataset"),
    AuditAction.dataset_unarchived: say("Unarchived the dataset"),
    AuditAction.dataset_restored: say("Restored the dataset"),
    AuditAction.dataset_exported: say("Exported the dataset"),
    AuditAction.imported: say("Imported a file"),
    AuditAction.documents_remapped: say("Changed document ids"),
    AuditAction.queries_renamed: say("Changed query ids"),
    AuditAction.pool_round_made: say("Made a round of the pool"),
    AuditAction.guideline_published: say("Published a guideline"),
    AuditAction.checks_changed: say("Changed training or gold pairs"),
    AuditAction.quality_drawn: say("Drew a sample for quality control"),
    AuditAction.names_revealed: say("Viewed names"),
    AuditAction.decided: say("Decided"),
    AuditAction.decision_withdrawn: say("Withdrew a decision"),
    AuditAction.decided_in_bulk: say("Settled in bulk"),
    AuditAction.bulk_undone: say("Undid a bulk decision"),
    AuditAction.documents_ordered: say("Ordered documents"),
    AuditAction.duplicates_accepted: say("Accepted grades of near duplicates"),
    AuditAction.file_downloaded: say("Downloaded or wrote a file"),
    AuditAction.release_published: say("Published a release"),
    AuditAction.backup_written: say("Wrote a backup"),
    AuditAction.backup_restored: say("Restored a backup"),
    AuditAction.installation_copied: say("Copied the installation to another database"),
    AuditAction.schema_migrated: say("Updated the database schema"),
    AuditAction.personal_data_removed: say("Removed old usernames and addresses"),
}
ACTOR_NAMES: Mapping[str, Message] = {
    "operator": say("command line"),
    "program": say("the program"),
    "unknown": say("not signed in"),
}
WAYS: Mapping[str, Message] = {
    "password": say("by password"),
    "provider": say("by the identity provider"),
    "group": say("by a group of the identity provider"),
    "identity": say("by the identity provider"),
}
FLAGS: Mapping[str, Message] = {
    "everywhere": say("every dataset"),
    "second_factor": say("with a second factor"),
    "first": say("the first admin"),
    "one_time": say("in place of a one-time password"),
    "moved": say("moved from another account"),
    "signed": say("signed"),
}
LEFT = "left"  # recovery codes: shown also for 0
DETAIL_NAMES: Mapping[str, Message] = {
    "sessions": say("sessions"),
    "invitation": say("invitation"),
    "link": say("one-time link"),
    LEFT: say("codes left"),
    "system": say("system"),
    "sha256": say("SHA-256"),
    "content_sha256": say("SHA-256"),
    "read": say("read"),
    "added": say("added"),
    "changed": say("changed"),
    "unchanged": say("unchanged"),
    "removed": say("removed"),
    "links": say("replaced ids"),
    "pairs": say("pairs"),
    "queries": say("queries"),
    "round": say("round"),
    "population": say("drawn from"),
    "seed": say("seed"),
    "version": say("version"),
    "overridden": say("gates overridden"),
    "bytes": say("bytes"),
    "releases": say("releases"),
    "rows": say("rows"),
    "from": say("taken from"),
    "made": say("created"),
    "schema": say("schema"),
    "earlier": say("earlier schema"),
    "before": say("before"),
    "categories": say("categories"),
    "languages": say("languages"),
    REMOVED: say("usernames and addresses removed"),
}
FIRST = ("role", "kind", "strategy", "by", "system")  # most important details
LEFT_OUT = ("kept", "applied_before")  # only for verification with the file
HASH = 12  # characters shown of a SHA-256


def name_action(action: str) -> str:
    """Return the action's name. An action of a newer program version is returned as stored."""
    return tr(ACTION_NAMES[AuditAction(action)]) if action in ACTION_NAMES else action


def name_actor(entry: AuditEntry) -> str:
    named = _name(entry, "actor")
    return named or tr(ACTOR_NAMES.get(entry.chained.actor_kind, entry.chained.actor_kind))


def describe_target(entry: AuditEntry) -> str:
    """Return the object of the act: a person, a version, a file name; "" without one."""
    return join_names(part for part in (_name(entry, "subject"), entry.chained.object) if part)


def describe_origin(entry: AuditEntry) -> str:
    """Return the origin of the act: the browser's IP address, the command line, or the program itself."""
    if entry.chained.source == "web":
        return _name(entry, "address") or tr("browser")
    return tr("command line") if entry.chained.source == "cli" else tr("the program")


def describe_details(entry: AuditEntry) -> str:
    """Return the details in words; "" without details."""
    details = json.loads(entry.chained.details)
    if entry.chained.action == AuditAction.settings_changed:
        return join_names(_describe_settings(details))
    names = [*(name for name in FIRST if name in details), *(name for name in details if name not in FIRST)]
    return join_names(part for name in names if (part := _describe(name, details[name])))


def _name(entry: AuditEntry, field: PersonalField) -> str:
    return entry.name(field) or (tr("removed") if entry.is_removed(field) else "")


def _describe_settings(details: Mapping[str, Any]) -> list[str]:
    before, after = details.get("before") or {}, details.get("after") or {}
    return [
        tr("{name}: {before} → {after}", name=name, before=_show(before.get(name)), after=_show(after[name]))
        if name in after
        else str(name)
        for name in details.get("settings", details.get("keys", ()))
    ]


def _describe(name: str, value: Any) -> str:
    if name in LEFT_OUT or value in (None, []) or (value == 0 and name != LEFT):
        return ""
    if name in FLAGS:
        return tr(FLAGS[name]) if value else ""
    if name == "by" and value in WAYS:
        return tr(WAYS[value])
    if name == "role":
        return name_role(str(value))
    if name == "kind" and value in KIND_NAMES:
        return name_kind(value)
    if name == "strategy":
        return name_strategy(str(value))
    if name in ("sha256", "content_sha256"):
        value = f"{str(value)[:HASH]}…"
    label = tr(DETAIL_NAMES[name]) if name in DETAIL_NAMES else name.replace("_", " ")
    return tr("{name}: {value}", name=label, value=_show(value))


def _show(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, int):
        return show_number(value)
    if isinstance(value, Mapping):
        return join_names(f"{name} {_show(item)}" for name, item in value.items())
    if isinstance(value, list):
        return join_names(_show(item) for item in value) or "–"
    return str(value)

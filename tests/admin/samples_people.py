"""People, keys, webhooks and changes, as they stand in the database."""

from datetime import UTC, datetime, timedelta

from server.domain.contact import DeliveryState, DeliveryTry
from server.domain.events import EventKind
from server.domain.roles import Role
from server.storage.people.api_keys import Scope

PAGES = {
    "settings": "/admin/settings",
    "settings_models": "/admin/settings/models",
    "settings_budgets": "/admin/settings/budgets",
    "settings_privacy": "/admin/settings/privacy",
    "settings_mail": "/admin/settings/mail",
    "settings_signin": "/admin/settings/sign-in",
    "webhooks": "/admin/settings/webhooks",
    "webhook": "/admin/settings/webhooks/{webhook_id}",
    "api_keys": "/admin/settings/api-keys",
    "people": "/admin/settings/people",
    "person": "/admin/settings/people/2",
    "audit_log": "/admin/settings/audit",
    "backup": "/admin/settings/backup",
    "settings_sign_on": "/admin/settings/sign-on",
    "account": "/admin/account",
    "passkey_new": "/admin/account/passkeys/new",
    "second_factor": "/admin/account/second-factor",
}


def fill(runtime):
    runtime.people.operators.create("ben.editor@example.com", "no hash", Role.EDITOR)
    viewer = runtime.people.operators.create(
        "cleo.with.a.rather.long.address@department.example.com", "no hash", Role.VIEWER
    )
    runtime.people.operators.set_second_factor(
        viewer, runtime.configuration.seal.close("JBSWY3DPEHPK3PXP"), 0, ["a", "b"]
    )
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1"
    runtime.people.sessions.start(viewer, timedelta(hours=5), "2001:db8::17", agent)
    runtime.people.links.invite("dora@example.com", Role.EDITOR, "ada@example.com")
    changes = {"conversation_days": "365", "rerank_api_key": "a-sample-of-a-key-that-ends-in-abcd"}
    runtime.configuration.live.change(changes, "ada@example.com")
    runtime.people.api_keys.create("Nightly report", [Scope.READ], "ada@example.com", site_id="lantern")
    old, _ = runtime.people.api_keys.create(
        "Help desk", list(Scope), "ada@example.com", ends_at=datetime.now(UTC) + timedelta(days=30)
    )
    runtime.people.api_keys.revoke(old.id)
    hook = runtime.delivery.webhooks.add(
        "https://tools.example.com/docent", runtime.configuration.seal.close("s"),
        [EventKind.CRAWL_FAILED, EventKind.BUDGET_SPENT], None,
    )  # fmt: skip
    runtime.delivery.events.emit(EventKind.CRAWL_FAILED, "docs", {"message": "docs.example cannot be found"})
    runtime.delivery.events.emit(
        EventKind.BUDGET_SPENT, "lantern", {"message": "today's budget of this site is spent"}
    )
    for state, says in (
        (DeliveryState.FAILED, "tools.example.com answered 500"),
        (DeliveryState.SENT, "tools.example.com answered 200"),
    ):
        claimed = runtime.delivery.event_deliveries.claim(datetime.now(UTC), timedelta(seconds=60))
        tried = DeliveryTry(
            datetime.now(UTC), "https://tools.example.com/docent", state is DeliveryState.SENT, says
        )
        runtime.delivery.event_deliveries.record(claimed, tried, state)
    details = {"settings": {"SITE_DAILY_TOKENS": ["0", "50000"], "CONVERSATION_DAYS": ["0", "365"]}}
    runtime.people.audit.add("ada@example.com", "changed settings", "", details)
    runtime.people.audit.add("ben.editor@example.com", "removed the answer", "lantern", {"answer": 7})
    runtime.people.audit.add(
        "the shell", "made a link for a new password", "", {"person": "ben.editor@example.com"}
    )
    return hook

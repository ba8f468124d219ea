"""What the dashboard calls each setting of the installation, and says about it."""

from dataclasses import dataclass

from admin.texts import lazy


@dataclass(frozen=True, slots=True)
class SettingWords:
    """The texts of one field."""

    label: str
    hint: str
    rare: bool = False
    """Whether its field is folded away under "Advanced"."""


WORDS = {
    # Models
    "openai_api_key": SettingWords(
        lazy("API key"), lazy("From your provider’s page. A model on your own machine needs none.")
    ),
    "openai_base_url": SettingWords(
        lazy("Address"), lazy("Such as http://127.0.0.1:11434/v1 for Ollama. Empty: OpenAI.")
    ),
    "chat_model": SettingWords(
        lazy("Name"), lazy("Such as gpt-4o-mini. Empty: gpt-4o-mini if there is a key, otherwise no model.")
    ),
    "embedding_model": SettingWords(
        lazy("Search model"),
        lazy("A model of your provider, or a folder on this server. Empty: the built-in one, for English."),
    ),
    "embedding_languages": SettingWords(
        lazy("Languages"), lazy("That this model understands, such as en,de,zh. Empty: all."), rare=True
    ),
    "embedding_query_prefix": SettingWords(
        lazy("Text before questions"),
        lazy("Some models in folders want one, such as query: for e5."),
        rare=True,
    ),
    "embedding_passage_prefix": SettingWords(
        lazy("Text before sections"),
        lazy("Some models in folders want one, such as passage: for e5."),
        rare=True,
    ),
    "rerank_url": SettingWords(
        lazy("Address"), lazy("Of a service such as Jina, Cohere, vLLM or TEI. Empty: none.")
    ),
    "rerank_model": SettingWords(lazy("Name"), lazy("Empty if the service has only one model.")),
    "rerank_api_key": SettingWords(lazy("API key"), lazy("Empty if the service needs none.")),
    "rerank_timeout_s": SettingWords(
        lazy("Time limit"), lazy("In seconds. After that the results keep their order.")
    ),
    "model_timeout_s": SettingWords(lazy("Whole reply"), lazy("Longest wait, in seconds.")),
    "model_first_token_s": SettingWords(
        lazy("First words"), lazy("Longest wait, in seconds. After that the answer is quoted from the pages.")
    ),
    "model_retries": SettingWords(lazy("Retries"), lazy("After a temporary failure.")),
    "context_tokens": SettingWords(
        lazy("Text from pages"), lazy("Most tokens of your pages in one call. More text takes several calls.")
    ),
    "model_cache_hours": SettingWords(
        lazy("Keep replies"), lazy("In hours: the same call costs nothing again. 0: not kept.")
    ),
    # Limits
    "model_daily_tokens": SettingWords(
        lazy("Tokens a day"), lazy("For all sites together, crawls included. 0: no limit.")
    ),
    "site_daily_cost": SettingWords(
        lazy("Money a day for each site"), lazy("In the currency of your prices. 0: no limit.")
    ),
    "site_daily_tokens": SettingWords(lazy("Tokens a day for each site"), lazy("0: no limit."), rare=True),
    "visitor_daily_tokens": SettingWords(
        lazy("Tokens a day for each visitor"), lazy("0: no limit."), rare=True
    ),
    "model_prices": SettingWords(
        lazy("Prices"),
        lazy("Of a million input and output tokens of each model, such as gpt-4o-mini=0.15/0.60,other=1/4."),
        rare=True,
    ),
    "visitor_limit": SettingWords(lazy("Questions of one visitor"), lazy("Such as 20/minute.")),
    "address_limit": SettingWords(
        lazy("Questions from one network"),
        lazy("Visitors of one office share an address. Such as 120/minute."),
    ),
    "message_chars": SettingWords(lazy("Longest question"), lazy("In characters."), rare=True),
    "token_limit": SettingWords(lazy("New visitors from one network"), lazy("Such as 60/minute."), rare=True),
    "proof_on_surge": SettingWords(
        lazy("Slow bots down"),
        lazy("During unusually many questions, browsers of new visitors solve a small task before they ask."),
        rare=True,
    ),
    "contact_limit": SettingWords(
        lazy("Messages from one network"), lazy("Messages to people, such as 20/hour."), rare=True
    ),
    "api_limit": SettingWords(lazy("Requests with one API key"), lazy("Such as 120/minute."), rare=True),
    # Answers
    "answer_cache_hours": SettingWords(
        lazy("Repeat an answer for"),
        lazy(
            "In hours: the same question gets the same answer at once. A change of the pages ends it earlier."
        ),
    ),
    "curated_threshold": SettingWords(
        lazy("Match for your own answers"),
        lazy("How similar a question must be to get an answer that you wrote, from 0.5 to 1 (equal)."),
    ),
    "relevance_floor": SettingWords(
        lazy("Least certainty"),
        lazy("From 0 to 1: below this, Docent says that it has no answer. -1: the built-in value."),
        rare=True,
    ),
    "retrieve_limit": SettingWords(
        lazy("Sections for an answer"),
        lazy("Most sections of pages that one answer is made from."),
        rare=True,
    ),
    "self_rag_max_count": SettingWords(
        lazy("Searches for a question"),
        lazy("Most searches where answers are checked and searched again."),
        rare=True,
    ),
    "self_rag_max_retries": SettingWords(
        lazy("Drafts of an answer"), lazy("Most drafts where a model checks its own answers."), rare=True
    ),
    # Crawling
    "private_hosts": SettingWords(
        lazy("Private hosts and networks"),
        lazy("Such as wiki.lan,10.0.0.7:8080,192.168.0.0/24. Docent connects to no other private address."),
    ),
    # Privacy
    "conversation_days": SettingWords(
        lazy("Keep conversations"),
        lazy("In days after the last question. 0: until you delete them."),
    ),
    "contact_days": SettingWords(
        lazy("Keep messages to people"), lazy("In days after they were sent. 0: until you delete them.")
    ),
    "consent_text": SettingWords(
        lazy("Consent text"),
        lazy("Visitors of new sites agree to it before their first question. Empty: they are not asked."),
    ),
    "privacy_url": SettingWords(
        lazy("Privacy page"), lazy("The chat of new sites links to it, such as https://example.com/privacy.")
    ),
    # Mail
    "smtp_url": SettingWords(
        lazy("Mail server"),
        lazy(
            "Such as smtp://user:password@mail.example.com:587, or smtps:// with port 465. Empty: no e-mail."
        ),
    ),
    "mail_from": SettingWords(
        lazy("Sender"), lazy("Such as Docent <docent@example.com>. Your mail server must allow it.")
    ),
    "contact_tries": SettingWords(
        lazy("Attempts"),
        lazy("How often Docent tries to deliver an e-mail or a webhook before it gives up."),
        rare=True,
    ),
    "contact_retry_s": SettingWords(
        lazy("First pause"), lazy("In seconds. Each further pause is three times as long."), rare=True
    ),
    "contact_timeout_s": SettingWords(
        lazy("Time limit"), lazy("For a mail server or a webhook to answer, in seconds."), rare=True
    ),
    "webhook_allow_private": SettingWords(
        lazy("Webhooks to private networks"),
        lazy("Allow webhooks to this machine and to private networks."),
        rare=True,
    ),
    # People
    "require_second_factor": SettingWords(
        lazy("Second factor for everybody"), lazy("People without one set it up at their next login.")
    ),
    "session_idle_minutes": SettingWords(
        lazy("Log out when idle"), lazy("In minutes without opening a page.")
    ),
    "confirm_minutes": SettingWords(
        lazy("Ask for the password again"),
        lazy("In minutes after it was last given, before settings and people are changed."),
    ),
    "login_limit": SettingWords(
        lazy("Login attempts"), lazy("From one network, such as 10/minute."), rare=True
    ),
    "oidc_issuer": SettingWords(
        lazy("Issuer"), lazy("The provider’s address, such as https://login.example.com. Empty: off.")
    ),
    "oidc_client_id": SettingWords(lazy("Client id"), lazy("Your provider shows it after registration.")),
    "oidc_client_secret": SettingWords(
        lazy("Client secret"), lazy("From your provider. Empty for a public client.")
    ),
    "oidc_label": SettingWords(lazy("Button"), lazy("Its text on the login page."), rare=True),
    "oidc_scopes": SettingWords(
        lazy("Scopes"), lazy("What to request, separated by spaces; openid is needed."), rare=True
    ),
    "oidc_roles": SettingWords(
        lazy("Roles of new people"),
        lazy("Such as admins=owner, @example.com=viewer: a group, or @ and a domain. Empty: invited only."),
        rare=True,
    ),
    "oidc_groups_claim": SettingWords(
        lazy("Groups"), lazy("The claim that lists a person’s groups."), rare=True
    ),
    "password_login": SettingWords(
        lazy("Log in with passwords"),
        lazy("Without it people use single sign-on or a passkey."),
        rare=True,
    ),
}
"""Setting -> its texts, for every setting that the dashboard changes."""

"""Validates email addresses of visitors, without DNS queries."""


def mail_address(text: str) -> str:
    """Return the normalised address, in ASCII if possible. Raises ValueError with the reason."""
    # Not at the start of every process: it compiles large patterns, and few processes see an address.
    from email_validator import EmailNotValidError, validate_email

    try:
        found = validate_email(text.strip(), check_deliverability=False)
    except EmailNotValidError as error:
        raise ValueError(str(error)) from None
    return found.ascii_email or found.normalized

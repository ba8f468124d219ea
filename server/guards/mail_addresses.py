"""Whether what a visitor typed is an e-mail address. No name server is asked."""

from email_validator import EmailNotValidError, validate_email


def mail_address(text: str) -> str:
    """The address, in ASCII where it can be written so. Raises ValueError with what is wrong with it."""
    try:
        found = validate_email(text.strip(), check_deliverability=False)
    except EmailNotValidError as error:
        raise ValueError(str(error)) from None
    return found.ascii_email or found.normalized

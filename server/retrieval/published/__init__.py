"""Published retrieval strategies that derive something from the chunks; each row of the table is one
module here."""

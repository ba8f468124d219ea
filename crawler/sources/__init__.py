"""Sources of pages other than a crawl: files, folders, lists of addresses, questions with answers."""

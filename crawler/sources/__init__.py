"""Pages from elsewhere than a website: files, folders, lists of addresses, questions with answers."""

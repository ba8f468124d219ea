"""Phrases, entities and relations of the pages, for the strategies that build a graph of them."""

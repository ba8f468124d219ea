"""Judges of answers: each measure with a chat model as judge and with a twin that needs none."""

"""Words that say nothing about what a question asks, in scripts that are searched by pairs.

See `server.indexes.unspaced`; those of other scripts are in `server.indexes.stopwords`.
"""

from __future__ import annotations

_CHINESE_PHRASES = """
    请问 請問 怎么样 怎么办 怎么 怎麼 怎样 怎樣 如何 为什么 為什麼 什么 什麼 哪里 哪裡 哪个 哪個
    哪些 哪种 哪一个 哪 是不是 能不能 可不可以 有没有 是否 能否 可否 可以 我想 我要 我该 我们 我們
    我 你们 你 多少 几个 吗 嗎 呢 吧 啊 应该 該 怎
"""
CHINESE_PHRASES = tuple(_CHINESE_PHRASES.split())
"""They part a question where they stand in it."""

_CHINESE_FUNCTION_WORDS = """
    上 与 个 中 为 也 了 从 会 個 到 又 和 在 对 對 就 很 從 想 把 是 會 有 為 用 的 着 等 給 给 能
    與 著 被 裡 要 讓 让 过 这 這 過 那 都 里
"""
CHINESE_FUNCTION_WORDS = frozenset(_CHINESE_FUNCTION_WORDS.split())
"""Where one is left alone between other scripts or phrases."""

_KOREAN_PARTICLES = """
    은 는 이 가 을 를 의 에 로 와 과 도 만 에서 에게 한테 께서 으로 까지 부터 처럼 보다 마다 조차
    마저 밖에 이나 라도 이라도 이란 란 에는 에도 에만 에서는 에서도 에서의 에게는 에게서 으로는
    으로도 으로만 으로서 으로써 로는 로도 로서 로써 로부터 으로부터 까지는 까지도 부터는 와는 과는
    과의 와의 이며 이고 이다 입니다 인가요 인지 이라는 라는 이라고 라고 들 들은 들이 들을 들의 들에
    들과
"""
KOREAN_PARTICLES = frozenset(_KOREAN_PARTICLES.split())
"""Glued to nouns."""

_KOREAN_VERB_ENDINGS = """
    할 한 함 합니다 합니까 해 해서 해야 해도 해요 했다 했습니다 했던 했을 하겠습니다 할까요 됩니다
    될 된 됨 돼 돼요 됐다 됐습니다 하다 하는 하고 하며 하면 하여 하려면 하려고 하기 하기를 하기가
    하지 하지만 하도록 하거나 하는데 하는지 하나요 하고자 하니 하세요 하십시오 하였다 하였습니다
    되다 되는 되고 되며 되면 되어 되려면 되기 되지 되지만 되도록 되거나 되는데 되는지 되나요 되었다
    되었습니다
"""
KOREAN_VERB_ENDINGS = frozenset(_KOREAN_VERB_ENDINGS.split())
"""Forms of "do" and "become" that make verbs of nouns."""

_KOREAN_FUNCTION_WORDS = """
    것 그 나 나는 내 내가 누가 누구 되나요 되는 되는지 되면 되죠 됩니까 됩니다 등 때 무엇 무엇을
    무엇이 무엇인가요 뭐 뭔가요 및 수 싶습니다 싶어요 싶은데 알려주세요 알려줘 어느 어디 어디서
    어디에 어디에서 어떤 어떻게 언제 없나요 왜 우리 이 인가요 인지 있나요 있는 있는지 있습니까
    있습니다 있어요 있을까요 저 저는 제 제가 좀 주세요 하고 하나요 하는 하는지 하려면 하면 하죠
    한가요 할 합니까 합니다 해야
"""
KOREAN_FUNCTION_WORDS = frozenset(_KOREAN_FUNCTION_WORDS.split())
"""Words of their own."""

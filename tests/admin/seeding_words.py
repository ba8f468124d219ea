"""What the questions and answers of the seeded database are made of."""

THINGS = (
    *(
        "anchor",
        "rope",
        "compass",
        "life jacket",
        "dinghy",
        "winch",
        "rudder",
        "bilge pump",
        "sail",
        "lantern",
    ),
    *("fender", "shackle", "chart", "paddle", "cleat", "mast", "hull paint", "radio", "flare", "ladder"),
    *("boat hook", "buoy", "cabin heater", "depth sounder", "epoxy", "fuel tank", "gas bottle", "harness"),
    *("inverter", "jib", "keel bolt", "log book", "mooring line", "nautical clock", "outboard motor"),
)
ASPECTS = (
    *("delivery", "returns", "care", "size guide", "price list", "warranty", "repair", "spare parts"),
    *("safety rules", "first use", "winter storage", "installation", "approval", "disposal"),
)
QUESTIONS = {
    "en": (
        "How long does the {1} of a {0} take?",
        "What does the {1} for my {0} cost?",
        "Where do I find the {1} of the {0}?",
        "Can I return a {0} after the {1}?",
        "is there anything about {0} {1}",
        "My {0} is broken, who helps me with the {1}?",
        "Which {0} do you recommend, and what about its {1}?",
    ),
    "de": (
        "Wie lange dauert die Lieferung: {0}, {1}?",
        "Was kostet {0} und was sagt {1} dazu?",
        "Kann ich {0} zurückgeben ({1})?",
    ),
    "fr": ("Combien coûte {0}, avec {1} ?", "Où trouver {1} pour {0} ?"),
    "es": ("¿Cuánto cuesta {0} con {1}?", "¿Dónde está {1} de {0}?"),
    "ar": ("كم تكلفة {0} مع {1}؟", "أين أجد {1} الخاص بـ {0}؟"),
    "ja": ("{0}の{1}はいくらですか", "{0}の{1}について教えてください"),
}
ANSWERS = {
    "en": (
        "{0}: parcels inside the country arrive within two working days.",
        "{0}: you may send it back within thirty days, unused and in its box.",
        "The site says nothing about that. It covers delivery, returns and care.",
    ),
    "de": (
        "{0}: Pakete im Inland kommen innerhalb von zwei Werktagen an.",
        "{0}: Sie können es binnen dreißig Tagen unbenutzt zurückschicken.",
        "Dazu sagt die Website nichts.",
    ),
    "fr": (
        "{0} : les colis arrivent en deux jours ouvrables.",
        "{0} : vous pouvez le renvoyer sous trente jours.",
        "Le site n'en dit rien.",
    ),
    "es": (
        "{0}: los paquetes llegan en dos días laborables.",
        "{0}: puede devolverlo en treinta días.",
        "El sitio no dice nada de eso.",
    ),
    "ar": (
        "{0}: تصل الطرود خلال يومي عمل.",
        "{0}: يمكنك إعادته خلال ثلاثين يوما.",
        "لا يذكر الموقع شيئا عن ذلك.",
    ),
    "ja": (
        "{0}：荷物は二営業日以内に届きます。",
        "{0}：三十日以内なら返品できます。",
        "サイトには書かれていません。",
    ),
}

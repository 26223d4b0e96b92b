"""The texts that the goldens are made of: whatever might trip a tokenizer. Deterministic."""
import unicodedata

WHITE_SPACE = [chr(c) for c in (*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
                                0x202F, 0x205F, 0x3000)]
NO_WHITE_SPACE = ["\x1c", "\x1d", "\x1e", "\x1f", "\u180e", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"]

SCRIPTS = """Hello, world! How's it going?
A robot must obey the orders given it by human beings except where such orders would conflict with the First Law.
Größe, Straße, ÄÖÜ, naïve façade, coöperation, œuvre, Ångström, İstanbul, ıĞş
Zażółć gęślą jaźń. Příliš žluťoučký kůň úpěl ďábelské ódy. Árvíztűrő tükörfúrógép.
Съешь ещё этих мягких французских булок, да выпей чаю. Її ґанок, ћирилица, Ѫ
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Ἀρχαία ἑλληνική ᾠδή
השועל המהיר קפץ. שָׁלוֹם עוֹלָם
نص حكيم له سر قاطع. اَلسَّلَامُ عَلَيْكُمْ ۱۲۳ ٤٥٦ کیا حال ہے
नमस्ते दुनिया। १२३ क्षत्रिय; বাংলা ভাষা ১২৩; ਪੰਜਾਬੀ; ગુજરાતી; ଓଡ଼ିଆ; தமிழ் மொழி ௧௨; తెలుగు; ಕನ್ನಡ; മലയാളം; සිංහල
สวัสดีชาวโลก ภาษาไทย ๑๒๓; ພາສາລາວ; བོད་སྐད་ ༡༢; မြန်မာ ၁၂; ភាសាខ្មែរ
你好，世界！漢字と仮名まじり文。ひらがな カタカナ ﾊﾝｶｸ ｆｕｌｌ 　全角　空白 一二三 〇 ㊿ ㈱
안녕하세요 세계. 한글 자모: ᄒ\u1161ᆫ ㅎㅏㄴ
ქართული ენა, Հայերեն, አማርኛ ፩፪, ᏣᎳᎩ, ᓀᐦᐃᔭᐍᐏᐣ, ᚠᚢᚦ, ⴰⵎⴰⵣⵉⵖ, ꦗꦮ, 𐌰𐌱, 𒀀𒁀 𒐕, 𓀀𓂀, 𝔘𝔫𝔦 𝟙𝟚, 𞤀𞤣, 𐐷
Ⅳ ⅻ ½ ¾ ² ³ ₄ ① ⑴ ⒈ ↀ ٣ ೩ 𝟘 ௰ ༳ 〡
¿Qué? «guillemets» „Gänsefüßchen“ ‘single’ “double” ‹x› —–‐‑ … ‰ § ¶ † № ℃ ™ © ® ¤ € £ ¥ ₿
∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β, ∑∏∫√∞≈≠≤≥ ⟨ψ|φ⟩ →⇒↔ ⊂⊆∅ ░▒▓█ ┌─┐│└┘ ●○◆★☆ ♠♥♦♣ ☃ ☎ ✓ ✗
👍 👍🏽 👩‍👩‍👧‍👦 👨🏿‍🚀 🏳️‍🌈 🇩🇪🇫🇷 1️⃣ #️⃣ *️⃣ ❤️ ❤ ☺️ 🫠🫨 🏴󠁧󠁢󠁳󠁣󠁴󠁿 a👍b 1👍2 ' 👍'
é e\u0301 ạ̈ a\u0323\u0308 Z̸̧͑a̴l̷g̶o̵ \u0301x x\u0301\u0302y 1\u20e3 क\u094d\u0937 \u0e33 \u200dx x\u200d
def f(x):\n    return x**2  # square\n\n\nclass A:\n\tdef __init__(self): self.x = {'a': [1, 2.5e-3], \"b\": None}\n
<html lang="en">\r\n<p class='x'>It&#39;s 5&nbsp;€</p>\r\n\r\n</html> https://example.org/a?b=c&d=%20#e user@host.tld C:\\dir
1234567890 3.14159 1,000,000 1e10 0xFF 1st 2nd x1y2z3 12:34:56 2026-11-21 +1 (555) 010-9999 $9.99 50% 5kg km² H₂O""".split("\n")

CONTRACTIONS = """'s 't 're 've 'm 'll 'd 'S 'T 'RE 'Re 'rE 'Ve 'M 'LL 'Ll 'lL 'D ' '' 'r 'v 'l 'x 'st 'tis 'twas 'em
's's ''s '''s s's it's it'S IT'S don't DON'T can't've y'all'd've I'm we're they'll she'd 're're 'reed 'veal 'llama 'dad
's1 1's 's's! !'s ’s it’s ‘s ´s `s "'s" ('s) 's_ _'s é's 's\u0301 漢's 'll's rock'n'roll O'Neill 'ſ""".split()

BROKEN = [bytes.fromhex(h) for h in """80 bf c0 c1 f5 fe ff c080 c1bf e08080 e09fbf f0808080 f08fbfbf eda080 edadbf edb080
edbfbf eda080edb080 f4908080 f5808080 f8888080 80 fc84808080 c3 c328 e2 e282 e228a1 e28228 f0 f09f f09f91 f09f9128 f028 f09028bc
f0908028 c3c3a9 e2e282ac e282e282ac f09ff09f918d a0 9f92 c2 c2a0 c2c2a0 e2808b80 ffff fffe feff efbfbe efbfbf efbb efbbbf f48fbfbf
f09fbfbe e1 e19a e19a80 e3 e380 e38080 e38080e380""".split()]

SPECIALS = """<|endoftext|> <|endoftext|><|endoftext|> a<|endoftext|>b <|endoftext| |endoftext|> <|ENDOFTEXT|> <<|endoftext|>>
<|endoftext|<|endoftext|> <|endof<|endoftext|>text|> '<|endoftext|>s <|endoftext|>'s <|<|endoftext|> <|endoftext|>1 é<|endoftext|>é
<| |> <|> <|pad|>""".split() + ["  <|endoftext|>  x", "a <|endoftext|> b", "\n\n<|endoftext|>\n\n", " <|endoftext|>",
                               "<|endof text|>", "end  <|endoftext|>"]

# What random texts are put together from.
PIECES = [piece.encode() for piece in (
    WHITE_SPACE + NO_WHITE_SPACE + [" ", " ", " ", "\n", "  ", "\n\n", "\r\n", "\t"] + CONTRACTIONS[:20] +
    list("aaaabcdeinorstzAEST059.,;:!?-_/()<|>\"'#") +
    " the, and, of, ing, Robot, don't, hello,1234,2026".split(",") +
    list("éßœşñǅʰªжЯωΩאשعلहिนด์漢字かなカ한글ሀᏣ𐐷𝔘") + list("²½Ⅳ٣१①𝟙〇") +
    ["\u0301", "\u0323", "\u094d", "\u20e3", "\ufe0f", "\u200d", "👍", "👩", "🏽", "🇩", "€", "—", "…", "“", "∑", "\ue000",
     "\u0378", "\U0010ffff", "\ufffe", "\U00031350", "\x00", "\x7f", "\x9f", "<|endoftext|>", "<|endoftext"])] + BROKEN

RANDOM_BLOCKS = 200


def split_mix(state):
    """Steele et al. 2014; the test has the same, and so makes the same texts."""
    mask = 0xFFFFFFFFFFFFFFFF
    while True:
        state = state + 0x9E3779B97F4A7C15 & mask
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        yield z ^ z >> 31


def random_text(seed):
    numbers = split_mix(seed)
    text = b""
    for _ in range(next(numbers) % 40):
        number = next(numbers)
        text += bytes([number >> 8 & 255]) if number % 8 == 0 else PIECES[(number >> 3) % len(PIECES)]
    return text


def of_every_category():
    """A few characters of each of Unicode's categories, alone, doubled, and among letters, digits, spaces and marks."""
    found = {}
    for code in [*range(0x3000), *range(0x3000, 0x20000, 17), 0xE0001, 0xF0000]:
        if not 0xD800 <= code < 0xE000:
            found.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    for characters in found.values():
        step = max(1, len(characters) // 6)
        for c in characters[::step][:6]:
            yield f"{c} {c}{c} a{c}b 1{c}2 .{c}. {c}'s\n{c}"


def white_space_runs():
    for c in WHITE_SPACE + NO_WHITE_SPACE:
        for run in (c, c * 2, c * 3, c + " ", " " + c, c + "\n" + c):
            for after in ("", "a", "1", ".", "'s", "é"):
                yield "x" + run + after
    for length in range(1, 20):
        yield " " * length + "x" + "\n" * length + "y" + "\t" * length + "1" + " " * length


def texts():
    """All of them, as bytes, none twice."""
    text = ["", "a", " ", "\n", " a", "a "] + SCRIPTS + ["\n".join(SCRIPTS)] + CONTRACTIONS
    text += [" ".join(CONTRACTIONS), "".join(CONTRACTIONS)] + SPECIALS + [" " + c for c in CONTRACTIONS]
    text += [*of_every_category(), *white_space_runs()]
    text += ["".join(map(chr, range(0x20))), " ".join(map(chr, range(0x7F, 0xA1)))]
    text += ["a" * n for n in (2, 3, 4, 5, 7, 8, 15, 16, 17, 100, 1001)] + ["ab" * 50, "=" * 75, "1" * 50, "." * 33, "漢" * 40]
    text += ["Supercalifragilisticexpialidocious antidisestablishmentarianism", " " * 300 + "x", "\n" * 99]
    data = [t.encode() for t in text] + [bytes([byte]) for byte in range(256)] + BROKEN
    data += [b"a" + b + b"b" for b in BROKEN] + [b" " + b + b" " for b in BROKEN] + [b"1" + b + b"'s" for b in BROKEN]
    data += [b"".join(BROKEN), bytes(range(256)), bytes(reversed(range(256))), b"\xff" * 20, b"\xc3" * 9 + b"\xa9" * 9]
    data += [random_text(seed) for seed in range(1 << 32, (1 << 32) + 300)]
    return list(dict.fromkeys(data))

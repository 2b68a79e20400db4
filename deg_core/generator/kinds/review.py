"""Product reviews: how content the buyer is, and why."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import CITIES, COMPANY_STEMS, phrases

PRODUCTS = phrases("cordless drill", "e-reader", "headset", "bike computer", "robot mower", "hand blender", "dash cam", "night light", "portable speaker", "hair clipper",
                   "camera drone", "smart watch", "baby monitor", "cordless vacuum", "leaf blower", "toy robot", "electric shaver", "camping lantern", "label maker", "metal detector")  # fmt: skip
STARS = {
    1: phrases("I threw it away and regret every cent.", "A disgrace; do not go near it.", "It is the worst thing I have ever owned.", "Utter rubbish from the first minute."),
    2: phrases("It does some of its job, but mostly it lets me down.", "I expected a good deal more.", "There is a little good in it and much that is bad.", "Below what I would call acceptable."),
    3: phrases("It is all right, neither good nor bad.", "It does what it must and no more.", "Good and bad sides cancel each other out.", "An average thing, I can live with it."),
    4: phrases("I like it, apart from a trifle here and there.", "A good buy with one small flaw.", "It serves me well, though not perfectly.", "Nearly everything about it is to my taste."),
    5: phrases("I could not be happier.", "Flawless in every respect.", "I have never had anything better.", "It is a delight each time I use it."),
}  # fmt: skip
STAR_LEVELS = {1: "terrible", 2: "poor", 3: "average", 4: "good", 5: "excellent"}
ASPECTS = {
    "battery": phrases("The charge is what strikes me, as it decides how long one can go on.", "My remark concerns how many hours it runs unplugged.", "The topic for me is the accumulator.",
                       "What I noticed most was the time between two charges."),
    "noise": phrases("What I noticed most was how loud it is.", "My remark concerns the sound it makes while running.", "The decibels are the point to know.", "The hum is what everybody asks me about."),
    "build": phrases("My remark concerns the hinges and seams.", "What I noticed most was the material and how it is put together.", "How solid the housing is matters most to me.",
                     "The screws, the joints and the shell are my topic here."),
    "instructions": phrases("What I noticed most was the booklet that explains it.", "My remark concerns the manual.", "How one learns to use it from the leaflet is my topic.",
                            "The guide that comes in the box deserves a word."),
}  # fmt: skip
AGAIN = {
    True: phrases("I would tell any friend to get one.", "My sister is getting one at my urging.", "Go ahead and buy it.", "I gladly speak for it."),
    False: phrases("I advise against it.", "Save your money for something else.", "My friends have been warned.", "Leave it on the shelf."),
}  # fmt: skip
SENT_BACK = {
    True: phrases("It is on its way back to the shop.", "I have already returned it.", "The shop took it back.", "It went back in its box."),
    False: phrases("I still have it and it stays here.", "It has its place in our house and will not leave.", "It is in daily use in our home.", "I am holding on to it."),
}  # fmt: skip
GIFT = {
    True: phrases("I bought it as a present for my father.", "It was wrapped for my niece's birthday.", "It was meant as a gift.", "My husband got it from me for our anniversary."),
    False: phrases("I bought it for myself.", "It is for my own use.", "I treated myself to it.", "Nobody but me was to have it."),
}  # fmt: skip
BOUGHT = phrases("Bought {d}", "Purchased on {d}", "I got it on {d}", "Date of purchase {d}", "In my hands since {d}")
WRITTEN = phrases("Review of {d}", "Written {d}", "Posted on {d}", "Published {d}", "Put online {d}")
OTHER_DAY = phrases(
    "Terms of the shop as of {d}",
    "The model came out on {d}",
    "Firmware of {d}",
    "Catalogue of {d}",
    "The older one dates from {d}",
)
PAID = phrases("I paid {a}", "it cost me {a}", "the price I paid was {a}", "I got it for {a}", "it set me back {a}")
LISTED = phrases(
    "the list price is {a}",
    "now it is offered at {a}",
    "elsewhere they want {a}",
    "before the sale it was {a}",
    "the bigger model costs {a}",
    "spare parts cost {a}",
)
USED = phrases("After {n} weeks of use", "Used for {n} weeks now", "{n} weeks with it so far", "Tested over {n} weeks")
OTHER_COUNT = phrases("{n} people found this helpful", "reviewer of {n} products", "{n} answers", "read {n} times")
RIVALS = phrases(
    "I compared it with {list}.",
    "Earlier I tried {list}.",
    "Its rivals in my home were {list}.",
    "I know {list} as well.",
)
NO_RIVALS = phrases(
    "I have no comparison.",
    "It is my first of the kind.",
    "I have tried no other.",
    "There was nothing to compare it with.",
)
LAYOUTS = phrases(
    "{brand} {product}\nby {author}, {city}\n{dates}\n\n{verdict} {story}\n\n{prices}. {rivals}\n\n{used}. {count}.",
    '{count}\n\n{dates_inline}. {author} from {city} writes on the {product} of {brand}:\n"{story} {prices}. {used}. {verdict} {rivals}"',
    "Reviewer: {author}\nTown: {city}\nMaker: {brand}\nProduct: {product}\n{dates}\n{count}\n\n{story} {rivals} {verdict}\n{used}. {prices}.",
    "My {product} ({brand})\n\n{used}. {story} {prices}. {rivals} {verdict}\n\n{author}\n{city}\n{dates}\n{count}",
    "{dates_inline}.\n{used}; {count}.\n\n{verdict} {rivals} {story} {prices}.\n\n{author}, {city}, about: {brand}, {product}",
    "From: {author} ({city})\nAbout: {product}, made by {brand}\n\nHello shop,\n\n{prices}. {verdict} {story}\n{rivals} {used}.\n\n{dates}\n({count})",
    "{count}\n{author}, {city}\n\nOn the {product} by {brand}. {prices}. {story} {verdict} {used}. {rivals}\n\n{dates}",
    "{dates}\n\n{rivals} {prices}. {verdict}\n{story}\n{used}. {count}.\n\nthe {brand} {product} as seen by {author} of {city}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a review; who is content recommends and keeps it, who is not does neither."""
    stars, aspect = draw.one(tuple(STARS)), draw.one(tuple(ASPECTS))
    again = stars > 3 or (stars == 3 and draw.chance(0.5))
    back, gift = (not again and draw.chance(0.8)), draw.one((True, False, None))
    for key, value in (("stars", stars), ("aspect", aspect), ("again", again), ("back", back), ("gift", gift)):
        draw.know(key, value)
    draw.know("tone", "negative" if stars < 3 else "mixed" if stars == 3 else "positive")
    brand, product, author = draw.fresh(COMPANY_STEMS), draw.wording(PRODUCTS), draw.person().full
    draw.know(
        "summary",
        f"{author} finds the {brand} {product} {STAR_LEVELS[stars]}, comments on its {aspect} and {'recommends' if again else 'advises against'} it.",
    )
    story = [draw.phrase(ASPECTS[aspect]), draw.phrase(AGAIN[again]), draw.phrase(SENT_BACK[back])]
    if gift is not None:
        story.append(draw.phrase(GIFT[gift]))
    owned_days = draw.rng.randrange(20, 400)
    dates = _dates(draw, owned_days)
    return {
        "brand": draw.say("brand", brand),
        "product": draw.say("product", product),
        "author": draw.say("author", author),
        "city": draw.say("city", draw.fresh(CITIES)),
        "verdict": draw.phrase(STARS[stars]),
        "story": join(" ", draw.shuffled(story)),
        "dates": join("\n", dates),
        "dates_inline": join("; ", dates),
        "prices": _prices(draw),
        "used": draw.maybe(0.6, "weeks", lambda: draw.phrase(USED, n=draw.say("weeks", owned_days // 7))),
        "count": capitalised(draw.phrase(OTHER_COUNT, n=str(draw.rng.randrange(2, 90)))),
        "rivals": _rivals(draw),
    }  # fmt: skip


def _dates(draw: Draw, owned_days: int) -> Sequence[Part]:
    bought = draw.maybe(
        0.65, "bought", lambda: draw.phrase(BOUGHT, d=draw.say_day("bought", draw.day(-owned_days, -owned_days)))
    )
    written = draw.phrase(WRITTEN, d=draw.say_day("written", draw.today))
    return draw.shuffled([bought, written, draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-900, -420)))])


def _prices(draw: Draw) -> Part:
    cents = draw.cents(15, 400)
    paid = draw.maybe(0.65, "paid", lambda: draw.phrase(PAID, a=draw.say_money("paid", cents)))
    listed = draw.phrase(LISTED, a=draw.money(cents + draw.cents(2, 50)))
    return capitalised(join(", ", draw.shuffled([paid, listed])))


def _rivals(draw: Draw) -> Part:
    """Other makers that the author tried, each with a price where the document is long enough to say."""
    count = draw.one((0, 1, 2, 2, 3))
    draw.know("rivals", count)
    if not count:
        return draw.phrase(NO_RIVALS)
    form = draw.one(("{b} ({p})", "{b} for {p}", "{b} at {p}"))
    rivals = [
        template(form, b=draw.say(f"rivals/{i}/brand", brand), p=draw.say_money(f"rivals/{i}/price", draw.cents(15, 400)))
        for i, brand in enumerate(draw.several(COMPANY_STEMS, count))
    ]  # fmt: skip
    return draw.phrase(RIVALS, list=join(", ", rivals))


VARIANTS = {
    "rating": s.group(
        {
            "product": s.text("product"),
            "brand": s.text("brand", "Maker of the reviewed product."),
            "reviewer": s.text("author"),
            "stars": s.core(s.scale("stars", 1, 5, "How content the reviewer is.", levels=STAR_LEVELS)),
            "recommends": s.yes_no("again"),
            "aspect": s.choice("aspect", {k: k for k in ASPECTS}, "What the remark is mainly about."),
            "price_paid": s.core(s.number("paid", "What the reviewer paid.", null=True)),
            "purchase_date": s.day("bought", null=True),
            "review_date": s.day("written"),
            "compared_with": s.items("rivals", s.text("brand"), "Other makers the reviewer tried."),
            "summary": s.written("summary", "One sentence: who finds what how good, the aspect and the advice."),
        }
    ),
    "insight": s.group(
        {
            "item": s.group({"name": s.text("product"), "maker": s.text("brand")}),
            "sentiment": s.choice(
                "tone", {"negative": ("negative", "Mostly displeased."), "mixed": ("neutral", "Neither pleased nor displeased."), "positive": ("positive", "Mostly pleased.")}
            ),
            "returned": s.yes_no("back", "Has it gone back to the shop?"),
            "was_gift": s.yes_no("gift", "Null when not stated.", null=True),
            "weeks_used": s.core(s.integer("weeks", null=True)),
            "cost": s.number("paid", optional=True),
            "author_city": s.text("city"),
            "rivals": s.items("rivals", s.group({"brand": s.text("brand"), "price": s.number("price")}), "Compared products."),
            "headline": s.written("summary", "One sentence: who finds what how good, the aspect and the advice."),
        }
    ),
    "archive": s.group(
        {
            "author": s.text("author"),
            "thing": s.text("product", "The reviewed product, without its maker."),
            "posted_on": s.day("written", "When the review appeared."),
            "bought_on": s.core(s.day("bought", optional=True)),
            "weeks": s.integer("weeks", "Weeks of use.", optional=True),
            "amount_paid": s.number("paid", null=True),
            "score": s.choice("stars", {1: "very bad", 2: "bad", 3: "fair", 4: "good", 5: "very good"}),
            "verdict": s.choice("again", {True: "buy", False: "avoid"}),
            "present_or_own": s.choice("gift", {True: "present", False: "own use"}, null=True),
            "alternatives": s.items("rivals", s.group({"maker": s.text("brand"), "price": s.number("price")}), most=5),
        }
    ),
}  # fmt: skip
REVIEW = Kind("review", LAYOUTS, compose, VARIANTS)

"""Product reviews: how content the buyer is, and why."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import CITIES, COMPANY_STEMS, phrases

PRODUCTS = phrases(
    "cordless drill", "e-reader", "headset", "bike computer", "robot mower", "hand blender", "dash cam",
    "night light", "portable speaker", "hair clipper", "camera drone", "smart watch", "baby monitor",
    "cordless vacuum", "leaf blower", "fitness tracker", "walkie-talkie", "pocket radio", "hedge trimmer",
    "window vacuum", "massage gun", "milk frother", "luggage scale", "tyre inflator", "head torch", "laser level",
    "voice recorder", "photo frame", "foot warmer", "pepper mill", "bike light", "pet tracker", "garden sprayer",
    "reading lamp", "pool robot", "toy robot", "electric shaver", "camping lantern", "label maker", "metal detector",
)  # fmt: skip
STARS = {
    1: phrases(
        "I threw it away and regret every cent.", "A disgrace; do not go near it.",
        "It is the worst thing I have ever owned.", "Rating: terrible.", "It is a terrible product.",
        "My verdict: very bad.", "I have nothing kind to say about it, nothing at all.", "A complete failure.",
        "It made me furious every single time.", "Not one thing about it is right.",
        "To call it junk would be flattery.", "I was appalled from start to finish.",
        "Overall mark: the lowest there is.", "An utter disaster in every way.",
        "I can hardly believe that anyone dared to put such a thing on sale.", "Utter rubbish from the first minute.",
    ),
    2: phrases(
        "It does some of its job, but mostly it lets me down.", "I expected a good deal more.",
        "There is a little good in it and much that is bad.", "Rating: poor.",
        "It is a poor product, though not a hopeless one.", "My verdict: bad.",
        "On the whole I am displeased, even if not everything about it is wrong.",
        "It disappoints more often than it pleases.", "Weak, with the odd bright moment.",
        "Once in a while it does what I want, and usually it does not.", "It falls short in most respects.",
        "I have seen worse, but not often.", "Overall mark: below average.",
        "More annoyance than use, I am sorry to say.", "It gets one thing right and a good many wrong.",
        "Below what I would call acceptable.",
    ),
    3: phrases(
        "It is all right, neither good nor bad.", "It does what it must and no more.",
        "Good and bad sides cancel each other out.", "Rating: average.", "It is a fair product.",
        "My verdict: so-so.", "Middling, nothing more and nothing less.", "I shrug my shoulders at it.",
        "There is as much to praise as to criticise.", "I am neither pleased nor displeased.", "It left me lukewarm.",
        "It neither thrilled nor annoyed me.", "Overall mark: right in the middle.",
        "Pluses and minuses come out even.", "Ordinary through and through, and that is all I can say.",
        "An average thing, I can live with it.",
    ),
    4: phrases(
        "I like it, apart from a trifle here and there.", "A good buy with one small flaw.",
        "It serves me well, though not perfectly.", "Rating: good.", "It is a good product, if short of excellent.",
        "My verdict: good, with a little room for improvement.", "I am pleased with it, a few quibbles aside.",
        "Close to perfect, but not quite there.", "Most of it is just as I had hoped.",
        "It does its job well and I seldom have cause to grumble.", "One small wish remains, otherwise I am content.",
        "A fine thing with a minor blemish.", "Overall mark: above average, a step below the top.",
        "I am happy with it by and large, minor niggles included.", "It would be ideal if one detail were better.",
        "Nearly everything about it is to my taste.",
    ),
    5: phrases(
        "I could not be happier.", "Flawless in every respect.", "I have never had anything better.",
        "Rating: excellent.", "It is an outstanding product.", "My verdict: very good, I have no wish left.",
        "I looked for a fault and found none.", "Everything about it is perfect.", "It surpassed my wildest hopes.",
        "Full marks from me.", "I am over the moon.", "It makes me smile every single day.",
        "Overall mark: the highest possible.", "Superb from every point of view.",
        "If there were a grade above the top one, it would get it.", "It is a delight each time I use it.",
    ),
}  # fmt: skip
STAR_LEVELS = {1: "terrible", 2: "poor", 3: "average", 4: "good", 5: "excellent"}
ASPECTS = {
    "battery": phrases(
        "The charge is what strikes me, as it decides how long one can go on.",
        "My remark concerns how many hours it runs unplugged.", "The topic for me is the accumulator.",
        "Aspect: battery.", "This review is mainly about the battery.", "Subject of my remark: battery life.",
        "I kept a log of when it had to go back to the socket.", "Let me talk about its power cells.",
        "How fast it drains is what I looked at.", "Most of my thoughts went to its stamina away from the mains.",
        "I want to say something about plugging in and topping up.",
        "The energy it stores is the thing I paid attention to.", "Main topic: the rechargeable cell.",
        "I mostly timed how soon the charging light came back on.",
        "Its endurance without a cable is what I have to report on.",
        "What I noticed most was the time between two charges.",
    ),
    "noise": phrases(
        "What I noticed most was how loud it is.", "My remark concerns the sound it makes while running.",
        "The decibels are the point to know.", "Aspect: noise.", "This review is mainly about the noise.",
        "Subject of my remark: sound level.", "I held a sound meter next to it.",
        "Let me talk about what the ears notice.", "How it hums and whirrs is what I looked at.",
        "Most of my thoughts went to whether it wakes the people next door.",
        "I want to say something about the volume at which the motor runs.",
        "What my neighbours hear of it is the thing I paid attention to.", "Main topic: its acoustics.",
        "I mostly listened to its buzz.",
        "Whether one can hold a conversation while it is running is what I have to report on.",
        "The hum is what everybody asks me about.",
    ),
    "build": phrases(
        "My remark concerns the hinges and seams.",
        "What I noticed most was the material and how it is put together.",
        "How solid the housing is matters most to me.", "Aspect: build.",
        "This review is mainly about the build quality.", "Subject of my remark: workmanship.",
        "I pressed on the casing to see whether it gives.", "Let me talk about the plastic and the glue.",
        "How well the parts fit together is what I looked at.",
        "Most of my thoughts went to how it would survive a fall.",
        "I want to say something about the way it was assembled.",
        "The sturdiness of the frame is the thing I paid attention to.", "Main topic: its construction.",
        "I mostly examined the gaps, the rivets and the finish.",
        "Whether it wobbles or bends when you hold it is what I have to report on.",
        "The screws, the joints and the shell are my topic here.",
    ),
    "instructions": phrases(
        "What I noticed most was the booklet that explains it.", "My remark concerns the manual.",
        "How one learns to use it from the leaflet is my topic.", "Aspect: instructions.",
        "This review is mainly about the instructions.", "Subject of my remark: user guide.",
        "I read the pages on setting it up from cover to cover.", "Let me talk about the printed directions.",
        "How the steps are explained on paper is what I looked at.",
        "Most of my thoughts went to the diagrams and captions in the handbook.",
        "I want to say something about the text that tells you which button does what.",
        "The folded sheet with the how-to is the thing I paid attention to.", "Main topic: the directions for use.",
        "I mostly studied the chapter on first steps.",
        "Whether a beginner can follow the written explanations is what I have to report on.",
        "The guide that comes in the box deserves a word.",
    ),
}  # fmt: skip
AGAIN = {
    True: phrases(
        "I would tell any friend to get one.", "My sister is getting one at my urging.", "Go ahead and buy it.",
        "Recommended: yes.", "I recommend it.", "Would I advise others to buy? Yes.",
        "You will not go wrong with one of these.", "Put it on your shopping list.",
        "Anyone who asks me is told to get one.", "My colleagues ordered theirs after talking to me.",
        "It has my vote.", "You can order it without a second thought.", "Recommendation: buy.",
        "My advice is to get hold of one.", "If you are looking for such a thing, this is the one to take.",
        "I gladly speak for it.",
    ),
    False: phrases(
        "I advise against it.", "Save your money for something else.", "My friends have been warned.",
        "Recommended: no.", "I do not recommend it.", "Would I advise others to buy? No.", "Look elsewhere.",
        "Keep your hands off it.", "Anyone who asks me is told to choose another one.",
        "My colleagues crossed it off their list after talking to me.", "I would not wish it on my neighbours.",
        "You had better spend your budget on a different model.", "Recommendation: avoid.",
        "My advice is to pass it by.", "If you are looking for such a thing, take any other.",
        "Leave it on the shelf.",
    ),
}  # fmt: skip
SENT_BACK = {
    True: phrases(
        "It is on its way back to the shop.", "I have already returned it.", "The shop took it back.",
        "Returned: yes.", "I have sent it back.", "Status of the order: returned to the seller.",
        "The seller has it again.", "I handed it in at the counter and got a refund.",
        "The parcel with it inside went off to the dealer.",
        "The return label is on the parcel and the courier has collected it.", "I made use of my right of return.",
        "It did not stay with me, the shop has it once more.", "Return: completed.",
        "The postman carried it off to where it had come from.",
        "The retailer received it from me along with the receipt.", "It went back in its box.",
    ),
    False: phrases(
        "I still have it and it stays here.", "It has its place in our house and will not leave.",
        "It is in daily use in our home.", "Returned: no.", "I have not sent it back.", "Status of the order: kept.",
        "It remains in my household.", "The deadline for returns has passed and it is still here.",
        "I did not make use of my right of return.", "It lies next to me as I write.",
        "It never went back to the shop.", "It has stayed with us.", "Return: none.",
        "It lives in our hall now, and that is where it will remain.",
        "No parcel with it inside ever left for the retailer.", "I am holding on to it.",
    ),
}  # fmt: skip
GIFT = {
    True: phrases(
        "I bought it as a present for my father.", "It was wrapped for my niece's birthday.",
        "It was meant as a gift.", "Gift: yes.", "This was a present.", "Bought as: gift.",
        "I chose it for a friend who was moving house.", "It lay under the Christmas tree for my mother.",
        "I had it gift-wrapped at the till.", "My godson unwrapped it at his party.",
        "I picked it to surprise my wife.", "The occasion was the retirement of a colleague, to whom we gave it.",
        "Purpose of the purchase: a gift.", "A bow was tied round it before my aunt got it.",
        "I ordered it to please my grandmother on her name day.", "My husband got it from me for our anniversary.",
    ),
    False: phrases(
        "I bought it for myself.", "It is for my own use.", "I treated myself to it.", "Gift: no.",
        "This was not a present but something for me.", "Bought as: own use.",
        "I needed one myself, so I ordered one.", "It was a little reward to myself.",
        "I bought it with my own needs in mind.", "The one who was to use it is the one who paid, me.",
        "I had long wanted one of my own and finally gave in.", "I wanted one for my own desk.",
        "Purpose of the purchase: personal use.", "I am both the buyer and the user.",
        "I did not buy it for anyone else.", "Nobody but me was to have it.",
    ),
}  # fmt: skip
BOUGHT = phrases(
    "Bought {d}", "Purchased on {d}", "I got it on {d}", "Date of purchase {d}", "Day of purchase: {d}",
    "My receipt is dated {d}", "I ordered and paid for it on {d}", "It came home with me on {d}",
    "My order was placed on {d}", "The till slip says {d}", "Acquired {d}", "In my hands since {d}",
)  # fmt: skip
WRITTEN = phrases(
    "Review of {d}", "Written {d}", "Posted on {d}", "Published {d}", "Date of this review: {d}",
    "I am writing this on {d}", "Review sent in {d}", "This text appeared on {d}", "Review date {d}",
    "Review submitted {d}", "I put my opinion on this page on {d}", "Put online {d}",
)  # fmt: skip
OTHER_DAY = phrases(
    "Terms of the shop as of {d}", "The model came out on {d}", "Firmware of {d}", "Catalogue of {d}",
    "On the market since {d}", "Advert of {d}", "Price list of {d}", "The maker announced it on {d}",
    "Safety certificate of {d}", "Patent granted {d}", "A magazine tested it on {d}", "The older one dates from {d}",
)  # fmt: skip
PAID = phrases(
    "I paid {a}", "it cost me {a}", "the price I paid was {a}", "I got it for {a}", "price paid: {a}",
    "I spent {a} on it", "my bill came to {a}", "at the till I paid {a}", "I handed over {a} for it",
    "amount on my receipt: {a}", "I gave {a} for it", "it set me back {a}",
)  # fmt: skip
LISTED = phrases(
    "the list price is {a}", "now it is offered at {a}", "elsewhere they want {a}", "before the sale it was {a}",
    "the bigger model costs {a}", "the recommended retail price is {a}", "today the shop asks {a}",
    "the newer model goes for {a}", "a longer warranty would have cost {a}", "the catalogue says {a}",
    "the carrying case is sold for {a}", "spare parts cost {a}",
)  # fmt: skip
USED = phrases(
    "After {n} weeks of use", "Used for {n} weeks now", "{n} weeks with it so far", "Time in use: {n} weeks",
    "I have been using it for {n} weeks", "Weeks of use: {n}", "My experience spans {n} weeks",
    "{n} weeks have passed since I first switched it on", "Tried out for {n} weeks", "In use: {n} weeks",
    "I have had {n} weeks to get to know it", "Tested over {n} weeks",
)  # fmt: skip
OTHER_COUNT = phrases(
    "{n} people found this helpful", "reviewer of {n} products", "{n} answers", "{n} thumbs up for this text",
    "{n} comments below", "shared {n} times", "{n} readers agreed", "profile with {n} ratings", "{n} photos attached",
    "{n} followers", "this page was opened {n} times", "read {n} times",
)  # fmt: skip
RIVALS = phrases(
    "I compared it with {list}.", "Earlier I tried {list}.", "Its rivals in my home were {list}.",
    "Compared with: {list}.", "Before this one I had {list}.", "Alternatives that I tried: {list}.",
    "For comparison I borrowed {list}.", "I also put {list} to the test.", "Side by side with it stood {list}.",
    "Other makers I have tried: {list}.", "I can compare it with {list}, which I have used too.",
    "I know {list} as well.",
)  # fmt: skip
NO_RIVALS = phrases(
    "I have no comparison.", "It is my first of the kind.", "I have tried no other.", "Compared with: nothing.",
    "I never had anything similar before.", "I did not test any other make.", "Alternatives that I tried: none.",
    "I know no other product of this sort.", "A comparison is beyond me, as I have used only this one.",
    "Other makers I have tried: none.", "I cannot say how it measures up against others, for I have never used one.",
    "There was nothing to compare it with.",
)  # fmt: skip
LAYOUTS = phrases(
    "{brand} {product}\nby {author}, {city}\n{dates}\n\n{verdict} {story}\n\n{prices}. {rivals}\n\n{used}. {count}.",
    '{count}\n\n{dates_inline}. {author} from {city} writes on the {product} of {brand}:\n"{story} {prices}. {used}. {verdict} {rivals}"',
    "Reviewer: {author}\nTown: {city}\nMaker: {brand}\nProduct: {product}\n{dates}\n{count}\n\n{story} {rivals} {verdict}\n{used}. {prices}.",
    "My {product} ({brand})\n\n{used}. {story} {prices}. {rivals} {verdict}\n\n{author}\n{city}\n{dates}\n{count}",
    "{dates_inline}.\n{used}; {count}.\n\n{verdict} {rivals} {story} {prices}.\n\n{author}, {city}, about: {brand}, {product}",
    "From: {author} ({city})\nAbout: {product}, made by {brand}\n\nHello shop,\n\n{prices}. {verdict} {story}\n{rivals} {used}.\n\n{dates}\n({count})",
    "Product: {product}\nManufacturer: {brand}\nName of reviewer: {author}\nPlace: {city}\n\n{story}\n{verdict}\n\n{rivals}\n{prices}.\n{used}.\n\n{dates}\n{count}",
    "{author}, who lives in {city}, sent us this about the {product} from {brand}:\n\n{verdict} {used}. {story} {rivals} {prices}.\n\n{dates_inline}. {count}.",
    "Reviewer | {author}\nHome town | {city}\nReviewed product | {product}\nMaker of it | {brand}\nDates | {dates_inline}\nMoney | {prices}\nReactions | {count}\n\n{used}. {rivals} {verdict} {story}",
    "* {count}\n* {prices}\n* {rivals}\n* {story}\n* {verdict}\n\n{used}.\n{dates}\n\nReview by {author} ({city}) of the {product} that {brand} makes",
    "Dear team at {brand},\n\nI am writing about your {product}. {story} {used}. {rivals} {prices}.\n\n{verdict}\n\nRegards\n{author}\n{city}\n\n{dates}\n{count}",
    "{product}, {brand}. {dates_inline}. {rivals} {verdict} {prices}. {story} {used}. Signed: {author}, {city}. {count}.",
    "Customer: {author}\nResident of: {city}\nArticle: {product}\nProducer: {brand}\n\nWhat the customer says: {verdict} {rivals} {story}\n\nFigures: {prices}. {used}.\n{dates_inline}. {count}.",
    "A buyer in {city} sent us word of the {product}, which {brand} produces.\n\n{story} {prices}. {verdict}\n\n{rivals}\n{used}.\n\nName of that buyer: {author}\n{dates}\n{count}",
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

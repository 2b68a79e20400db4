"""Support tickets: what is asked, how badly, how the writer feels."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator import vocabulary as words
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, join
from deg_core.generator.vocabulary import phrases

TOPICS = {
    "billing": phrases(
        "The amount on my statement does not match what I agreed to when I signed up.",
        "You took the monthly fee twice and I would like one of them back.",
        "My statement shows a fee that nobody has explained to me.",
        "I was charged for a plan that I gave up in spring.",
        "Could you correct the VAT on my last bill?",
        "The discount you promised me was never taken off the price.",
        "Somebody debited me for a renewal that I had declined.",
        "Why has my monthly price gone up without notice?",
    ),
    "delivery": phrases(
        "The courier says it was handed over, yet no parcel ever came to my door.",
        "My order has been sitting in the same depot for nine days.",
        "Half of the boxes arrived and nobody can tell me where the rest are.",
        "The driver left the package with a neighbour I have never heard of.",
        "The tracking page has not moved since last week.",
        "The parcel went to my old address although I had changed it.",
        "I am still waiting for the shipment that was meant to come on Monday.",
        "Two of the three cartons never made it to our loading bay.",
    ),
    "technical": phrases(
        "The app closes by itself as soon as I open the second tab.",
        "The device shows a red light and no longer connects to the network.",
        "After the update every export ends with an error message.",
        "The screen stays black when I plug in the charger.",
        "Reports take ten minutes to load and then the page freezes.",
        "The sensor reads zero whatever I do.",
        "Printing from your software crashes the whole machine.",
        "Since this morning nothing synchronises between my phone and the desktop.",
    ),
    "account": phrases(
        "I cannot sign in any more, and the reset mail never reaches me.",
        "Please change the name on my profile, as I have married.",
        "A former colleague can still see our workspace; kindly take away his access.",
        "I would like to close my profile and have my details erased.",
        "My user has been locked after three wrong passwords.",
        "How do I add a second administrator to our team?",
        "The code for two-step login goes to a phone I no longer own.",
        "We need to merge two profiles that belong to the same person.",
    ),
}
URGENT = phrases(
    "We are standing still because of this, so please call within the hour.",
    "Our opening is tomorrow morning and without a fix we must cancel it.",
    "Every hour costs us customers; somebody has to look at it now.",
    "I need an answer today, as I leave for hospital tonight.",
    "Thirty people cannot work until you sort this out.",
    "This cannot wait for the normal queue.",
    "If it is not solved before noon we lose the contract.",
    "Please drop everything else, production has stopped.",
    "I have to have this resolved before the end of the day.",
)
CALM = phrases(
    "There is no hurry at all, next week is fine.",
    "Take the time you need, I am on holiday until the end of the month anyway.",
    "It is a small thing, whenever someone has a moment.",
    "We have a way around it, so it can wait.",
    "Any time this month would be soon enough.",
    "Please put it at the bottom of your pile.",
    "I only mention it so that you know; nothing depends on it.",
    "It does not hold us up, so answer when convenient.",
    "No need to rush on my account.",
)
MOODS = {
    1: phrases("You are always so kind on the phone, thank you in advance!", "I love the product and am sure you will help.",
               "Thanks for the lovely service so far.", "It has been a pleasure to deal with your team."),
    2: phrases("Please let me know what you need from me.", "I look forward to your reply.",
               "The details are given here.", "I would be grateful for a short answer."),
    3: phrases("I must say that I am a little disappointed.", "This is getting somewhat tiresome.",
               "I had hoped for better than this.", "It is rather annoying, to be honest."),
    4: phrases("I am furious and will tell everyone I know.", "This is an outrage and you should be ashamed.",
               "Never in my life have I been treated so badly!", "I am sick of your excuses and will see a lawyer."),
}  # fmt: skip
MOOD_LEVELS = {1: "friendly", 2: "neutral", 3: "annoyed", 4: "furious"}
PLANS = {
    "starter": phrases("We are on the smallest package.", "I have the entry-level package.", "Mine is the cheapest tier.",
                       "We took your lowest tier."),
    "team": phrases("We have the middle package for a group of us.", "Ours is the tier between the cheapest and the largest.",
                    "We use the mid-sized tier.", "Our tier is the one in the middle of your list."),
    "enterprise": phrases("We are on your largest package.", "Our company has the top tier.",
                          "We pay for the biggest package you sell.", "Ours is the highest tier on your list."),
}  # fmt: skip
RECEIVED = phrases("Received: {d}", "Arrived {d}", "Logged at {d}", "Came in on {d}", "Reached us {d}")
BOUGHT = phrases(
    "I bought it on {d}.",
    "The purchase was made on {d}.",
    "We ordered on {d}.",
    "It was ordered on {d}.",
    "My purchase dates from {d}.",
)
OTHER_DAY = phrases("I first wrote to you on {d}.", "Your colleague promised an answer by {d}.", "My contract with you dates from {d}.",
                    "I have been a customer since {d}.", "You last replied on {d}.", "I moved house on {d}.")  # fmt: skip
ORDER = phrases(
    "It is about order {n}.",
    "The order is {n}.",
    "My order number is {n}.",
    "This concerns {n}, my order.",
    "Please look up order {n}.",
)
OTHER_ORDER = phrases("(Not {n}, which was fine.)", "The earlier order {n} went well.", "Please ignore {n}, that was a test.",
                      "Order {n} has nothing to do with it.", "You confused it with {n} last time.")  # fmt: skip
REFUND = phrases(
    "I paid {a} and want that sum back.",
    "Please return {a} to me.",
    "I ask for {a} back.",
    "You owe me {a}.",
    "Kindly refund {a}.",
)
OTHER_SUM = phrases("A new one would cost {a}.", "A competitor asks only {a}.", "My usual monthly spend is {a}.",
                    "Last year I spent {a} with you.", "Your shop lists it at {a} today.")  # fmt: skip
PRODUCTS = phrases("These items are affected: {list}.", "Affected: {list}.", "I mean {list}.", "The articles in question: {list}.",
                   "It concerns {list}.")  # fmt: skip
SIGN = phrases("Regards,\n{name}", "Best wishes\n{name}", "{name}", "Yours,\n{name}", "Thanks, {name}")
LAYOUTS = phrases(
    "From: {name} <{mail}>\nCc: {cc_name} <{cc}>\nTicket: {id}\n{received}\n\n{body}\n\n{sign}",
    '{received}\nRequest {id}\nHandled by: {agent}\nCustomer: {name}, {mail}\n\n"{body}"',
    "Ticket {id}\n\nHello,\n\n{body}\n\nYou can reach me at {mail}; my colleague {cc_name} ({cc}) is copied.\n\n{sign}\n\n{received}",
    "Agent: {agent} <{agent_mail}>\nSender: {name} <{mail}>\n{received}\nRef: {id}\n\n{body}",
    "Chat of {name} with {agent}\n{received}\n\n{name}: {body}\n{agent}: May I have your mail address?\n{name}: {mail}. Not {cc}, that one is old.\n"
    "{agent}: Thank you. Your request is {id}.",
    "{body}\n\n{sign}\nE-mail: {mail}\n\n--\n{received}; request id {id}; assigned to {agent} ({agent_mail})",
    "Forwarded by {agent} <{agent_mail}>\n{received}\nOriginal sender: {name}, {mail}\n\nDear support,\n{body}\n\nRequest id: {id}",
    "Case {id} | opened by {agent_mail} on behalf of {name} ({mail})\n{received}\nWords of the customer:\n{body}",
)
TOPIC_WORDS = {
    "billing": "a billing problem",
    "delivery": "a delivery problem",
    "technical": "a technical fault",
    "account": "account access",
}


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a customer's message and the desk's header around it."""
    topic, urgent, mood = draw.one(tuple(TOPICS)), draw.chance(0.5), draw.one((1, 2, 3, 4))
    for key, value in (("topic", topic), ("urgent", urgent), ("mood", mood), ("upset", mood >= 3)):
        draw.know(key, value)
    customer, colleague, agent = draw.person(), draw.person(), draw.person()
    hurry = "urgently" if urgent else "without hurry"
    draw.know("summary", f"{customer.full} writes {hurry} about {TOPIC_WORDS[topic]} and sounds {MOOD_LEVELS[mood]}.")
    name = draw.say("customer", customer.full)
    return {
        "name": name,
        "mail": draw.say("mail", customer.email),
        "cc_name": colleague.full,
        "cc": colleague.email,
        "agent": agent.full,
        "agent_mail": agent.email,
        "id": draw.say("id", draw.uuid()),
        "received": draw.phrase(RECEIVED, d=draw.say_moment("received", draw.moment(draw.today))),
        "body": _body(draw, topic, urgent, mood),
        "sign": draw.phrase(SIGN, name=name),
    }


def _body(draw: Draw, topic: str, urgent: bool, mood: int) -> Part:
    plan = draw.one((*PLANS, None))
    draw.know("plan", plan)
    middle = [
        *_order(draw),
        *_dates(draw),
        *_sums(draw),
        _products(draw),
        draw.phrase(PLANS[plan]) if plan else "",
        draw.phrase(URGENT if urgent else CALM),
        draw.phrase(MOODS[mood]),
    ]
    return join(" ", [draw.phrase(TOPICS[topic]), *draw.shuffled(middle)])


def _order(draw: Draw) -> Sequence[Part]:
    order, other = draw.several_codes(draw.one(("ORD-", "A", "WEB-", "8")), 2)
    if draw.chance(0.7):
        right = draw.phrase(ORDER, n=draw.say("order", order))
        return [right, draw.phrase(OTHER_ORDER, n=other)] if draw.chance(0.5) else [right]
    draw.know("order", None)
    return [draw.phrase(OTHER_ORDER, n=other)] if draw.chance(0.5) else []


def _dates(draw: Draw) -> Sequence[Part]:
    sentences = [draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-300, -90)))]
    if draw.chance(0.6):
        sentences.append(draw.phrase(BOUGHT, d=draw.say_day("bought", draw.day(-80, -5))))
    else:
        draw.know("bought", None)
    return sentences


def _sums(draw: Draw) -> Sequence[Part]:
    sentences = [draw.phrase(OTHER_SUM, a=draw.money(draw.cents(10, 900)))] if draw.chance(0.6) else []
    if draw.chance(0.6):
        sentences.append(draw.phrase(REFUND, a=draw.say_money("refund", draw.cents(10, 900))))
    else:
        draw.know("refund", None)
    return sentences


def _products(draw: Draw) -> Part:
    count = draw.one((0, 1, 2, 2, 3))
    draw.know("products", count)
    if not count:
        return ""
    names = [draw.say(f"products/{i}", name) for i, name in enumerate(draw.several(words.GOODS, count))]
    return draw.phrase(PRODUCTS, list=join(", ", names))


DESK = s.group(
    {
        "request_id": s.text("id", format="uuid"),
        "customer_name": s.text("customer"),
        "customer_email": s.text("mail", "Address of the customer, not of a colleague or agent.", format="email"),
        "received_at": s.moment("received"),
        "topic": s.core(s.choice("topic", {k: k for k in TOPICS})),
        "urgent": s.core(s.yes_no("urgent", "Does it need an answer at once?")),
        "mood": s.core(s.scale("mood", 1, 4, "How the customer feels.", levels=MOOD_LEVELS)),
        "order_number": s.text("order", "The order that the request is about.", null=True),
        "purchase_date": s.day("bought", null=True),
        "refund_amount": s.number("refund", "Sum that the customer wants back.", null=True),
        "products": s.items("products", s.text(""), "Affected products."),
        "summary": s.written("summary", "One sentence: who writes how urgently about what, in which mood."),
    }
)
VARIANTS = {
    "desk": DESK,
    "routing": s.group(
        {
            "sender": s.group({"name": s.text("customer"), "email": s.text("mail", format="email")}),
            "team": s.choice(
                "topic",
                {
                    "billing": ("finance", "Charges, invoices and prices."),
                    "delivery": ("logistics", "Parcels that are late, lost or incomplete."),
                    "technical": ("engineering", "Faults of a device or program."),
                    "account": ("identity", "Sign-in, profiles and access rights."),
                },
                "Team that should answer.",
            ),
            "needs_answer_now": s.yes_no("urgent"),
            "customer_is_upset": s.yes_no("upset"),
            "plan": s.choice("plan", {k: k for k in PLANS}, "Package that the customer has.", null=True),
            "claimed": s.number("refund", optional=True),
            "order": s.text("order", optional=True),
            "bought_on": s.day("bought", optional=True),
            "articles": s.items("products", s.text("")),
        }
    ),
    "crm": s.group(
        {
            "case": s.text("id", format="uuid"),
            "contact": s.text("mail", "E-mail of the person who asks.", format="email"),
            "opened": s.moment("received", "When the request came in."),
            "category": s.choice("topic", {"billing": "money", "delivery": "shipping", "technical": "fault", "account": "login"}),
            "anger": s.scale("mood", 1, 4, "1 friendly, 2 neutral, 3 annoyed, 4 furious."),
            "priority": s.choice("urgent", {True: "high", False: "low"}),
            "tier": s.choice("plan", {"starter": "small", "team": "medium", "enterprise": "large"}, null=True),
            "order_id": s.text("order", null=True),
            "items": s.items("products", s.text(""), "Products that the request is about.", most=5),
            "gist": s.written("summary", "One sentence: who writes how urgently about what, in which mood."),
        }
    ),
}  # fmt: skip
SUPPORT = Kind("support", LAYOUTS, compose, VARIANTS)

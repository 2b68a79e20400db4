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
        "You took the monthly fee twice and I would like to know why.",
        "My statement shows a fee that nobody has explained to me.",
        "I was charged for a plan that I gave up in spring.",
        "Could you correct the VAT on my last bill?",
        "The discount you promised me was never taken off the price.",
        "This is about billing.",
        "I have a question on an invoice of yours.",
        "Subject: charges on my bill.",
        "Please send the invoice again with our new company address on it.",
        "According to my bank you collected the money on the wrong day of the month.",
        "The rate in your price list and the rate on the bill are not the same.",
        "Somebody debited me for a renewal that I had declined.",
        "Why has my monthly price gone up without notice?",
        "I am writing because of a payment matter.",
        "Your accountants seem to have added a surcharge that is not in our agreement.",
    ),
    "delivery": phrases(
        "The courier says it was handed over, yet no parcel ever came to my door.",
        "My order has been sitting in the same depot for nine days.",
        "Half of the boxes arrived and nobody can tell me where the rest are.",
        "The driver left the package with a neighbour I have never heard of.",
        "The tracking page has not moved since last week.",
        "The parcel went to my old address although I had changed it.",
        "This is about a delivery.",
        "I have a question on where my parcel is.",
        "Subject: shipment not received.",
        "The carrier came while we were out and did not leave a card.",
        "One pallet is missing from the consignment.",
        "Customs seems to be holding the goods that you sent me.",
        "I am still waiting for the shipment that was meant to come on Monday.",
        "Two of the three cartons never made it to our loading bay.",
        "I am writing because of a late parcel.",
        "The van drove past our warehouse again without unloading anything.",
    ),
    "technical": phrases(
        "The app closes by itself as soon as I open the second tab.",
        "The device shows a red light and no longer connects to the network.",
        "After the update every export ends with an error message.",
        "The screen stays black when I plug in the charger.",
        "Reports take ten minutes to load and then the page freezes.",
        "The sensor reads zero whatever I do.",
        "This is about a technical fault.",
        "I have a question on a bug in your program.",
        "Subject: the device does not work properly.",
        "It hums loudly for a while and then switches itself off.",
        "Whenever I save a file, half of the text turns into strange symbols.",
        "It runs down after a few minutes, even when it was fully charged.",
        "Printing from your software crashes the whole machine.",
        "Since this morning nothing synchronises between my phone and the desktop.",
        "I am writing because of a malfunction.",
        "The buttons on the front panel no longer react when I press them.",
    ),
    "account": phrases(
        "I cannot sign in any more, and the reset mail never reaches me.",
        "Please change the name on my profile, as I have married.",
        "A former colleague can still see our workspace; kindly take away his access.",
        "I would like to close my profile and have my details erased.",
        "My user has been locked after three wrong passwords.",
        "How do I add a second administrator to our team?",
        "This is about access to my user account.",
        "I have a question on my login.",
        "Subject: change of password.",
        "A new employee needs a user name and the rights of an editor.",
        "Somebody else seems to know my password, so please block my profile.",
        "The link to confirm my registration has expired, so I am still locked out.",
        "The code for two-step login goes to a phone I no longer own.",
        "We need to merge two profiles that belong to the same person.",
        "I am writing because of my sign-in details.",
        "My assistant should be allowed to see our workspace, but for now she has no permission.",
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
    "Priority: high.",
    "This is urgent.",
    "I need a reply at once.",
    "Treat this as an emergency, please.",
    "A whole hall of guests arrives tonight, and by then it has to be settled.",
    "Please drop everything else, production has stopped.",
    "I have to have this resolved before the end of the day.",
    "Urgency: immediate.",
    "My plane leaves in a few hours, and after that it will be too late to help me.",
)
CALM = phrases(
    "There is no hurry at all, next week is fine.",
    "Take the time you need, I am on holiday until the end of the month anyway.",
    "It is a small thing, whenever someone has a moment.",
    "We have a way around it, so it can wait.",
    "Any time this month would be soon enough.",
    "Please put it at the bottom of your pile.",
    "I only mention it so that you know; nothing depends on it.",
    "Priority: low.",
    "This is not urgent.",
    "I do not need a reply at once.",
    "Deal with the pressing cases of other people first.",
    "I shall not need any of this before next season.",
    "It does not hold us up, so answer when convenient.",
    "No need to rush on my account.",
    "Urgency: none.",
    "We have put the matter aside for now and will come back to it in a few weeks.",
)
MOODS = {
    1: phrases(
        "You are always so kind on the phone, thank you in advance!",
        "I love the product and am sure you will help.",
        "Thanks for the lovely service so far.",
        "I am a very happy customer of yours.",
        "Apart from this I am delighted with you.",
        "Warm greetings to your whole team, you are wonderful!",
        "I always enjoy talking to you.",
        "Your people have been marvellous to me every single time.",
        "I have told all my friends how good you are.",
        "A big smile from me to everybody at the help desk!",
        "You have never let me down, and I am truly thankful for that.",
        "Have a beautiful day, dear team, and thank you for being there!",
        "It has been a pleasure to deal with your team.",
        "I think the world of your staff.",
        "Many heartfelt thanks, you are a great bunch!",
        "Whoever reads this, I hope that the sun is shining on you.",
    ),
    2: phrases(
        "Please let me know what you need from me.",
        "I look forward to your reply.",
        "The details are given here.",
        "This message is for your information and further handling.",
        "Please confirm that you have got this message.",
        "I am reporting the matter as your web page asks.",
        "The facts are as I describe them.",
        "I have filled in what the form asks for.",
        "Tell me which department handles this.",
        "You can answer me in writing.",
        "If a document is missing, I can send it.",
        "I request that you look into the matter.",
        "I would be grateful for a short answer.",
        "Please pass this on to the person in charge.",
        "I have nothing further to add.",
        "Let me know which steps I have to take.",
    ),
    3: phrases(
        "I must say that I am a little disappointed.",
        "This is getting somewhat tiresome.",
        "I had hoped for better than this.",
        "I am annoyed.",
        "This bothers me quite a bit.",
        "I am not pleased with how this went.",
        "Frankly, I expected more care from a firm like yours.",
        "That is a nuisance, and not my first one with you.",
        "It does not leave the best impression of you.",
        "I find it irritating that I have to write at all.",
        "You could have spared me this trouble.",
        "My patience with you is wearing a bit thin.",
        "It is rather annoying, to be honest.",
        "I am somewhat put out about it.",
        "That is a pity, and I would have liked to be treated with a little more attention.",
        "This kind of thing really should not happen.",
    ),
    4: phrases(
        "I am furious and will tell everyone I know.",
        "This is an outrage and you should be ashamed.",
        "Never in my life have I been treated so badly!",
        "I am absolutely livid.",
        "I am boiling with rage.",
        "You are a disgrace to your trade!",
        "What a pack of liars and crooks you are!",
        "I will never, ever buy from you again, and I will warn the press!",
        "How dare you treat people like dirt!",
        "I am trembling with anger.",
        "Such utter contempt for a customer makes my blood boil.",
        "The consumer court will hear about your shameless behaviour!",
        "I am sick of your excuses and will see a lawyer.",
        "I am beside myself with fury.",
        "You incompetent fools should be put out of business!",
        "I could scream, this is a scandal beyond words!",
    ),
}
MOOD_LEVELS = {1: "friendly", 2: "neutral", 3: "annoyed", 4: "furious"}
PLANS = {
    "starter": phrases(
        "We are on the smallest package.",
        "I have the entry-level package.",
        "Mine is the cheapest tier.",
        "Package: small (starter).",
        "Our plan is the small one for starters.",
        "I use the small starter package.",
        "We pay for the least that you sell, the starter plan.",
        "My subscription is the lowest of your tiers.",
        "Of your packages I chose the one with the fewest features.",
        "I am only a beginner, so your tiniest plan does for me.",
        "There is no tier below the one that I have.",
        "Every other package you offer is bigger than mine.",
        "We took your lowest tier.",
        "Plan booked: starter, the smallest.",
        "Our subscription stands at the very bottom of your list of packages.",
        "Nothing that you offer is more basic than the package I subscribe to.",
    ),
    "team": phrases(
        "We have the middle package for a group of us.",
        "Ours is the tier between the cheapest and the largest.",
        "We use the mid-sized tier.",
        "Package: medium (team).",
        "Our plan is the medium one for teams.",
        "I use the medium team package.",
        "We pay for the team plan, the second of your three.",
        "My subscription is the middle one of your tiers.",
        "Of your packages we chose the one that is neither small nor large.",
        "We had outgrown the smallest plan but do not need the largest, so we took the other one.",
        "There is one tier below ours and one above it.",
        "Only one package you offer is bigger than mine, and only one is smaller.",
        "Our tier is the one in the middle of your list.",
        "Plan booked: team, the mid-range one.",
        "Our subscription is a step up from the smallest and a step down from the largest.",
        "We subscribe to the package halfway up your range.",
    ),
    "enterprise": phrases(
        "We are on your largest package.",
        "Our company has the top tier.",
        "We pay for the biggest package you sell.",
        "Package: large (enterprise).",
        "Our plan is the large one for enterprises.",
        "I use the large enterprise package.",
        "We pay for the most that you sell, the enterprise plan.",
        "My subscription is the uppermost of your tiers.",
        "Of your packages we chose the one with every feature in it.",
        "We are a big group, so only your most extensive plan was enough.",
        "There is no tier above the one that we have.",
        "Every other package you offer is smaller than ours.",
        "Ours is the highest tier on your list.",
        "Plan booked: enterprise, the biggest.",
        "Our subscription stands at the very top of your range of packages.",
        "You have nothing more comprehensive to sell than the package we subscribe to.",
    ),
}
RECEIVED = phrases("Received: {d}", "Arrived {d}", "Logged at {d}", "Came in on {d}", "Received on {d}",
                   "Date received: {d}", "Incoming message of {d}", "Entered our system {d}", "Request opened: {d}",
                   "Reached us {d}", "Time of receipt: {d}", "Landed in our inbox on {d}")  # fmt: skip
BOUGHT = phrases(
    "I bought it on {d}.",
    "The purchase was made on {d}.",
    "We ordered on {d}.",
    "It was ordered on {d}.",
    "Date of purchase: {d}.",
    "I placed the order on {d}.",
    "The sale took place on {d}.",
    "According to the receipt, I purchased it on {d}.",
    "Bought: {d}.",
    "My purchase dates from {d}.",
    "Day of purchase: {d}.",
    "I got it from your shop on {d}.",
)
OTHER_DAY = phrases("I first wrote to you on {d}.", "Your colleague promised an answer by {d}.",
                    "My contract with you dates from {d}.", "I have been a customer since {d}.",
                    "You last replied on {d}.", "We spoke on the phone on {d}.",
                    "I subscribed to your newsletter on {d}.", "Customer since: {d}.",
                    "A different request of mine was closed on {d}.", "I moved house on {d}.",
                    "Your last survey reached me on {d}.", "My previous call to you was on {d}.")  # fmt: skip
ORDER = phrases(
    "It is about order {n}.",
    "The order is {n}.",
    "My order number is {n}.",
    "This concerns {n}, my order.",
    "Order number: {n}.",
    "I am writing to you about order {n}.",
    "The order in question is {n}.",
    "You will find it under order {n}.",
    "Order concerned: {n}.",
    "Please look up order {n}.",
    "The matter belongs to order {n}.",
    "Reference of the order at issue: {n}.",
)
OTHER_ORDER = phrases("(Not {n}, which was fine.)", "The earlier order {n} went well.",
                      "Please ignore {n}, that was a test.", "Order {n} has nothing to do with it.",
                      "I have no complaint about order {n}.", "Order {n} is another matter and is closed.",
                      "(My sister's order {n} is not meant.)", "Do not mix it up with order {n}.",
                      "The other order, {n}, was cancelled long ago.", "You confused it with {n} last time.",
                      "Leave {n} out of it, please.", "Order {n} was all right.")  # fmt: skip
REFUND = phrases(
    "I paid {a} and want that sum back.",
    "Please return {a} to me.",
    "I ask for {a} back.",
    "You owe me {a}.",
    "Refund requested: {a}.",
    "I would like a refund of {a}.",
    "Please credit me with {a}.",
    "Sum that I claim back: {a}.",
    "My claim comes to {a}.",
    "Kindly refund {a}.",
    "I expect to be repaid {a}.",
    "Reimburse me for {a}, please.",
)
OTHER_SUM = phrases("A new one would cost {a}.", "A competitor asks only {a}.", "My usual monthly spend is {a}.",
                    "Last year I spent {a} with you.", "A repair elsewhere would cost {a}.",
                    "My credit limit with you is {a}.", "Our yearly budget for such things is {a}.",
                    "A friend of mine sold his for {a}.", "My previous purchase came to {a}.",
                    "Your shop lists it at {a} today.", "Another dealer offers the same for {a}.",
                    "Its value second-hand is about {a}.")  # fmt: skip
PRODUCTS = phrases("These items are affected: {list}.", "Affected: {list}.", "I mean {list}.",
                   "The articles in question: {list}.", "Items: {list}.", "Products concerned: {list}.",
                   "My message is about the following: {list}.", "What this is about: {list}.",
                   "Please note the articles that are meant: {list}.", "It concerns {list}.",
                   "Affected products: {list}.", "The request relates to {list}.")  # fmt: skip
SIGN = phrases("Regards,\n{name}", "Best wishes\n{name}", "{name}", "Yours,\n{name}", "Yours faithfully\n{name}",
               "Signed: {name}", "Sincerely,\n{name}", "Sent by {name}", "-- {name}", "Thanks, {name}",
               "Yours truly,\n{name}", "Kind regards from {name}")  # fmt: skip
LAYOUTS = phrases(
    "From: {name} <{mail}>\nCc: {cc_name} <{cc}>\nTicket: {id}\n{received}\n\n{body}\n\n{sign}",
    '{received}\nRequest {id}\nHandled by: {agent}\nCustomer: {name}, {mail}\n\n"{body}"',
    "Ticket {id}\n\nHello,\n\n{body}\n\nYou can reach me at {mail}; my colleague {cc_name} ({cc}) is copied.\n\n{sign}\n\n{received}",
    "Agent: {agent} <{agent_mail}>\nSender: {name} <{mail}>\n{received}\nRef: {id}\n\n{body}",
    "Chat of {name} with {agent}\n{received}\n\n{name}: {body}\n{agent}: May I have your mail address?\n{name}: {mail}. Not {cc}, that one is old.\n"
    "{agent}: Thank you. Your request is {id}.",
    "{body}\n\n{sign}\nE-mail: {mail}\n\n--\n{received}; request id {id}; assigned to {agent} ({agent_mail})",
    "Agent | {agent} | {agent_mail}\nCustomer | {name} | {mail}\nIn copy | {cc_name} | {cc}\nRequest | {id}\nTime | {received}\n\n{body}",
    "SUPPORT FORM\n- {received}\n- Request id: {id}\n- Name of the customer: {name}\n- E-mail of the customer: {mail}\n"
    "- Agent on duty: {agent}\n\nMessage\n{body}",
    "To: {agent} <{agent_mail}>\nFrom: {name} <{mail}>\n\nDear {agent},\n\n{body}\n\n{sign}\n\n[{received}. Filed as {id}.]",
    "{agent} wrote this note: the customer {name} sent us the message below and wants the reply at {mail}. "
    "{received}, kept as {id}.\n\n{body}",
    "Web form, no. {id}\n{received}\nMessage:\n{body}\n\nReply to: {mail}\nCopy of the reply to: {cc_name}, {cc}\n{sign}",
    "Phone note by {agent} ({agent_mail}).\n{received}\nCaller, a customer: {name}. Answer by mail to {mail}.\n"
    "What the caller said: {body}\nCase id {id}.",
    "Forwarded by {agent} <{agent_mail}>\n{received}\nOriginal sender: {name}, {mail}\n\nDear support,\n{body}\n\nRequest id: {id}",
    "Case {id} | opened by {agent_mail} on behalf of {name} ({mail})\n{received}\nWords of the customer:\n{body}",
    "To the service desk, for the attention of {agent}\n\n{body}\n\n{sign}\n\nAnswer to {mail}, please; {cc_name} at {cc} only reads along."
    "\n\n(Desk stamp: {received}, case {id})",
    "{received}\nid: {id}\nasked by: {name}\nmail: {mail}\ntaken on by: {agent}\nmail of the desk: {agent_mail}\n\n{body}",
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

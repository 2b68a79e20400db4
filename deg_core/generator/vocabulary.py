"""Names, places and other words shared by the kinds; the last quarter of each list is held out of training."""

from __future__ import annotations

from dataclasses import dataclass

HELD_OUT_SHARE = 4


@dataclass(frozen=True)
class Phrases:
    """Alternatives of one wording: `seen` in training, `held` only outside it."""

    seen: tuple[str, ...]
    held: tuple[str, ...]

    def of(self, part: str) -> tuple[str, ...]:
        """The alternatives of a part: 'seen', 'held' or 'all'."""
        return {"seen": self.seen, "held": self.held, "all": self.seen + self.held}[part]


def phrases(*texts: str) -> Phrases:
    """Hold the last quarter of the texts (at least one) out of training. Raises ValueError below two texts."""
    if len(texts) < 2 or len(set(texts)) != len(texts):
        raise ValueError(f"wordings must be two or more and distinct: {texts}")
    held = max(1, len(texts) // HELD_OUT_SHARE)
    return Phrases(texts[:-held], texts[-held:])


def word_list(text: str) -> Phrases:
    """The words of a text as phrases."""
    return phrases(*text.split())


FIRST_NAMES = word_list(
    """Amelia Oliver Priya Mateo Ingrid Kwame Yuki Fatima Lars Chiara Tomasz Aoife Rahul Elena Björn Camille Diego
    Hanna Ibrahim Jasmin Katarzyna Liam Mei Nikolai Olga Paulo Quentin Rosa Sven Tamar Umar Valentina Wei Ximena Youssef
    Zofia Arjun Beatriz Cedric Dagny Emil Freya Giorgio Helena Isaac Jonas Karim Leila Marek Noor Oskar Petra
    Ayesha Bruno Clara Dmitri Esther Farid Greta Hugo Irina Jakob Kenji Lucia Milan Nadia"""
)
LAST_NAMES = word_list(
    """Okafor Lindqvist Moreau Tanaka Kowalski Fernández Haddad O'Brien Novak Rossi Schneider Patel Andersen Kaplan
    Iyer Castellanos Dubois Ivanova Marchetti Nakamura Osei Pereira Ramos Svensson Tremblay Urban Vargas Whitfield
    Yilmaz Zimmermann Abbott Bianchi Chowdhury Delgado Eriksen Fischer Grant Horvat Ibáñez Jansen Kessler Laurent
    Mbeki Nielsen Ortega Popescu Quinn Reyes Sato Thorne Ueda Verhoeven
    Achterberg Brennan Costa Dragović Eklund Ferrari Gallagher Hashimoto Ishikawa Jovanović Krüger Lemaire"""
)
COMPANY_STEMS = word_list(
    """Northwind Halcyon Bluefin Corvalle Meridian Ostrava Pinecrest Quantis Redwell Silverbrook Tarnholm Umbra Vextor
    Westmark Yarrow Zephyr Alderney Brightline Castell Dunmore Everline Fjordland Glenhaven Harwick Ironbridge
    Jutland Kestrel Lakeshore Montclair Nordhavn Oakmere Palisade Rosenfeld Stellaris Thornbury Unity Amberley
    Brackwater Cobaltine Driftmoor Elmsworth Ferncastle Goldhurst Heatherby Indigora Keldmark Larkspur Marlstone
    Nettlecombe Orbiton Penwick Quillfeld Ravensholm Saltmarsh Tidewell Ulverby Verdanta Wolfsgate Yewbank Zenmoor
    Ashcombe Birchholt Copperfold Dovermere Embergate Foxmoor Hawthwaite Pebbleford Arkwright Belvoir Crownfield
    Delacroix Eastvale Falkirk Greystone Hollins Inverness Juniper Kirkwall Lowland"""
)
COMPANY_FORMS = phrases(
    "Ltd", "GmbH", "Corp", "LLC", "SA", "AB", "BV", "Srl", "Inc", "ApS", "LLP", "Kft",
    "NV", "Oy", "plc", "AG",
)  # fmt: skip
TRADES = phrases(
    "Logistics", "Systems", "Foods", "Interiors", "Energy", "Textiles", "Press", "Tools", "Dental Supply", "Marine",
    "Analytics", "Print", "Instruments", "Bicycles", "Fasteners", "Optics", "Plastics", "Metals", "Timber",
    "Bearings", "Software", "Paints", "Glassware", "Pumps",
    "Books", "Footwear", "Clockworks", "Drapery", "Packaging", "Robotics", "Ceramics", "Lighting",
)  # fmt: skip
CITIES = phrases(
    "Leeds", "Utrecht", "Porto", "Graz", "Lyon", "Malmö", "Kraków", "Austin", "Toronto", "Nagoya", "Valencia",
    "Cork", "Tampere", "Bergen", "Ghent", "Turin", "Denver", "Pune", "Accra", "Split", "Basel", "Haifa", "Lima",
    "Perth", "Lisbon", "Seville", "Antwerp", "Rotterdam", "Cologne", "Dresden", "Salzburg", "Zagreb", "Ljubljana",
    "Bratislava", "Brno", "Gdańsk", "Riga", "Vilnius", "Oulu", "Uppsala", "Odense", "Stavanger", "Glasgow",
    "Cardiff", "Belfast", "Toulouse", "Calgary", "Nairobi",
    "Sheffield", "Rennes", "Groningen", "Bologna", "Zaragoza", "Trondheim", "Ottawa", "Sapporo", "Bilbao", "Aarhus",
    "Bristol", "Leipzig", "Montreal", "Nantes", "Osaka", "Tallinn",
)  # fmt: skip
STREETS = phrases(
    "Mill Lane", "Harbour Road", "Rue Voltaire", "Via Garibaldi", "Lindenstrasse", "Calle Mayor", "Queen Street",
    "Storgatan", "Kerkstraat", "Elm Avenue", "Station Road", "Avenida Central", "Orchard Close", "Market Square",
    "Church Hill", "Chapel Road", "Victoria Avenue", "King's Parade", "Rue de la Gare", "Rue des Lilas", "Via Roma",
    "Via della Pace", "Gartenweg", "Rosenplatz", "Hauptstrasse", "Calle del Sol", "Plaza Nueva", "Kungsgatan",
    "Strandvägen", "Dorpsstraat", "Molenweg", "Rua Augusta", "Ash Grove", "Meadow Drive", "Castle Street",
    "Willow Way",
    "Abbey Mews", "Rue du Moulin", "Via del Ponte", "Kirchgasse", "Calle Real", "Nygatan", "Bridge End",
    "Bahnhofstrasse", "Rua das Flores", "Canal Walk", "Birch Crescent", "Park Terrace",
)  # fmt: skip
MAIL_HOSTS = phrases(
    "example.com", "example.org", "example.net", "mail.example", "post.example", "web.example", "office.example",
    "team.example", "home.example",
    "courier.example", "inbox.example", "letters.example",
)  # fmt: skip
GOODS = phrases(
    "oak desk", "cable tray", "LED panel", "steel bracket", "office chair", "label printer", "safety gloves",
    "paper rolls", "water filter", "server rack", "USB-C dock", "floor lamp", "shelf unit", "whiteboard",
    "toner cartridge", "network switch", "hand dryer", "tool chest", "door closer", "air purifier", "noticeboard",
    "packing tape", "wall clock", "barcode scanner", "step ladder", "hole punch", "desk fan", "heavy stapler",
    "laser pointer", "projector screen", "keyboard tray", "monitor arm", "laptop stand", "surge protector",
    "patch cable", "door mat", "waste bin", "letter tray", "ring binder", "paper shredder", "cash drawer",
    "key cabinet", "safety helmet", "ear defenders", "work boots", "dust mask", "torque wrench", "spirit level",
    "utility knife", "hose reel", "wheelbarrow", "sack truck", "ratchet strap", "bubble wrap", "cable ties",
    "hinge plate", "brass hook", "paint roller", "wood glue", "fire blanket",
    "picture frame", "bar stool", "footrest", "lectern", "coat stand", "umbrella stand", "flip chart", "glue gun",
    "claw hammer", "work bench", "cotton apron", "serving trolley", "pallet wrap", "first-aid kit",
    "filing cabinet", "extension lead", "mesh screen", "power strip", "conference phone", "desk organiser",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

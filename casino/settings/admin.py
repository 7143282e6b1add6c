"""The look of the admin pages."""

from django.templatetags.static import static

UNFOLD = {
    "SITE_TITLE": "Casino tables",
    "SITE_HEADER": "tables.admin.navigation.house_name",
    "SITE_SYMBOL": "playing_cards",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("dealer_ui/icon.svg")},
    ],
    "SHOW_HISTORY": False,  # ours is the log
    "DASHBOARD_CALLBACK": "dealer_ui.operator.front_page.dashboard",
    "SHOW_VIEW_ON_SITE": False,
    "THEME": "dark",  # as the floor is
    "STYLES": [
        lambda request: static("dealer_ui/tokens.css"),
        lambda request: static("tables/admin.css"),
    ],
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "tables.admin.navigation.navigation",
    },
    "COMMAND": {"search_callback": "tables.admin.navigation.search"},
    "COLORS": {
        "primary": {
            "50": "#fff9e8", "100": "#fff1cc", "200": "#ffe7a6", "300": "#ffdd80", "400": "#ffd66e",
            "500": "#ffcf5c", "600": "#ffcf5c", "700": "#e6b53f", "800": "#8a6a1c", "900": "#4d3b10", "950": "#241a02",
        },
        "base": {
            "50": "#fbf9f2", "100": "#f5f1e6", "200": "#e2e3da", "300": "#d3dad4", "400": "#b9c4bd",
            "500": "#8d9c94", "600": "#5a6a62", "700": "#33423c", "800": "#26332e", "900": "#151d1a", "950": "#0b100e",
        },
    },
}  # fmt: skip

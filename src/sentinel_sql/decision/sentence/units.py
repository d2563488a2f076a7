"""Units of time, mass, volume and length, as sentences and column names write them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

UNITS: Mapping[str, tuple[str, Decimal]] = {
    name: (family, Decimal(size))
    for family, sizes in {
        "time": {
            "second seconds sec secs s": "1",
            "minute minutes min mins": "60",
            "hour hours hr hrs h": "3600",
            "day days d": "86400",
            "week weeks": "604800",
            "month months": "2629800",
            "year years yr yrs": "31557600",
        },
        "mass": {
            "mcg µg microgram micrograms": "0.000001",
            "mg milligram milligrams": "0.001",
            "g gram grams": "1",
            "kg kilogram kilograms kilo kilos": "1000",
            "oz ounce ounces": "28.349523125",
            "lb lbs pound pounds": "453.59237",
        },
        "volume": {
            "ml milliliter milliliters millilitre millilitres": "0.001",
            "dl deciliter deciliters": "0.1",
            "l liter liters litre litres": "1",
        },
        "length": {
            "mm millimeter millimeters": "0.001",
            "cm centimeter centimeters centimetre centimetres": "0.01",
            "m meter meters metre metres": "1",
            "km kilometer kilometers kilometre kilometres": "1000",
            "inch inches": "0.0254",
            "ft foot feet": "0.3048",
            "mile miles": "1609.344",
        },
    }.items()
    for names, size in sizes.items()
    for name in names.split()
}
"""Unit → what it measures, and its size; a month and a year of the mean length."""

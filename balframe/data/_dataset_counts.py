"""The counts behind the data sets.

COMPAS and COMPAS_DECILES are numbers of people, counted in data that ProPublica published in 2016
with "How we analyzed the COMPAS recidivism algorithm", by J. Larson, S. Mattu, L. Kirchner and
J. Angwin (https://github.com/propublica/compas-analysis). The records of persons are not here.

- COMPAS was counted by race, sex and age in the example data of the package aequitas, which are
  ProPublica's 7,214 people. The totals equal the tables that ProPublica printed.
- COMPAS_DECILES was counted in ProPublica's file compas-scores-two-years.csv, with the filters of
  its analysis, which leave 6,172 people.

Terms: we know of no licence for these data. The repository above names none that we found. The
terms of ProPublica's data store (https://www.propublica.org/datastore/terms/), which hold "in
general", ask those who publish to cite ProPublica. They forbid republishing all of the raw data,
distributing data on their own, changing them, and licensing them to others. The licence of aequitas
is permissive and is about its software. Counts are facts. The licence of balframe is for its code,
and claims and gives no rights in these numbers or their source. Name ProPublica if you publish
them.

APPLICANTS was invented for balframe: no employer, test or person is behind it. The licence of
balframe holds for it.
"""

COMPAS = {  # by sex and age: true positives, false positives, true negatives, false negatives
    "African-American": (
        ((61, 59, 34, 15), (99, 89, 155, 52), (13, 16, 52, 7)),
        ((370, 156, 110, 115), (704, 389, 451, 255), (122, 96, 188, 88)),
    ),
    "Asian": (
        ((0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
        ((3, 0, 4, 0), (1, 2, 9, 1), (2, 0, 7, 1)),
    ),
    "Caucasian": (
        ((26, 42, 18, 1), (77, 52, 126, 54), (10, 17, 113, 31)),
        ((114, 55, 84, 50), (223, 148, 420, 212), (55, 35, 378, 113)),
    ),
    "Hispanic": (
        ((5, 2, 8, 2), (4, 3, 39, 17), (0, 2, 16, 5)),
        ((37, 27, 24, 22), (51, 40, 150, 63), (6, 13, 81, 20)),
    ),
    "Native American": (
        ((0, 0, 0, 0), (2, 0, 0, 0), (1, 0, 1, 0)),
        ((2, 0, 0, 1), (3, 3, 4, 0), (1, 0, 0, 0)),
    ),
    "Other": (
        ((1, 5, 7, 2), (4, 1, 27, 5), (0, 0, 12, 3)),
        ((20, 14, 16, 17), (15, 14, 97, 47), (3, 2, 49, 16)),
    ),
}

COMPAS_DECILES = {  # by race: people of each decile who did not reoffend, and who did
    "African-American": (
        (280, 241, 173, 179, 165, 131, 134, 86, 88, 37),
        (85, 105, 125, 158, 158, 187, 209, 215, 229, 190),
    ),
    "Asian": ((14, 4, 3, 0, 0, 1, 0, 1, 0, 0), (1, 0, 2, 0, 1, 1, 1, 1, 0, 1)),
    "Caucasian": (
        (477, 221, 156, 145, 109, 67, 45, 24, 22, 15),
        (128, 100, 82, 98, 91, 93, 68, 72, 55, 35),
    ),
    "Hispanic": (
        (121, 55, 50, 32, 19, 9, 14, 7, 8, 5),
        (38, 34, 23, 15, 20, 18, 14, 7, 9, 11),
    ),
    "Native American": ((0, 2, 1, 0, 0, 1, 1, 0, 1, 0), (0, 0, 0, 0, 0, 1, 1, 0, 1, 2)),
    "Other": ((117, 35, 20, 19, 9, 12, 4, 0, 1, 2), (25, 25, 12, 20, 10, 8, 5, 7, 6, 6)),
}

# by sex and race, unknown last: people of each score who are not selected, and who are
APPLICANTS = (
    (  # Female
        ((0, 1, 1, 2, 2, 1, 4, 1, 0, 0), (0, 0, 0, 0, 0, 0, 0, 2, 1, 0)),
        ((3, 1, 11, 14, 28, 16, 11, 6, 1, 0), (0, 0, 0, 1, 2, 2, 13, 11, 5, 0)),
        ((13, 21, 50, 61, 62, 44, 19, 11, 3, 0), (0, 0, 0, 1, 11, 10, 18, 4, 2, 0)),
        ((4, 15, 27, 32, 34, 27, 16, 3, 0, 0), (0, 0, 0, 1, 10, 5, 9, 11, 2, 0)),
        ((0, 1, 0, 2, 1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1, 1, 0, 0, 0)),
        ((0, 0, 5, 5, 6, 6, 0, 0, 0, 0), (0, 0, 0, 1, 1, 0, 4, 1, 1, 0)),
        ((9, 21, 56, 73, 101, 70, 38, 15, 2, 0), (0, 0, 2, 2, 16, 34, 33, 35, 11, 2)),
        ((2, 4, 16, 8, 7, 11, 8, 2, 0, 0), (0, 0, 0, 2, 4, 5, 2, 6, 0, 1)),
    ),
    (  # Male
        ((0, 1, 1, 1, 2, 5, 1, 0, 0, 0), (0, 0, 0, 0, 0, 2, 0, 1, 0, 0)),
        ((0, 7, 17, 17, 18, 23, 12, 5, 1, 0), (0, 0, 0, 1, 5, 9, 13, 12, 5, 0)),
        ((7, 10, 29, 47, 53, 43, 31, 11, 1, 0), (0, 0, 1, 4, 10, 9, 17, 5, 5, 2)),
        ((4, 11, 17, 38, 28, 32, 14, 9, 1, 0), (0, 0, 0, 4, 7, 11, 13, 9, 3, 3)),
        ((0, 0, 0, 0, 3, 2, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 1, 0, 1, 1)),
        ((2, 0, 4, 1, 5, 3, 2, 1, 0, 0), (0, 0, 0, 0, 0, 3, 3, 0, 0, 2)),
        ((13, 23, 49, 77, 120, 81, 64, 16, 5, 1), (0, 0, 0, 7, 18, 30, 46, 48, 28, 14)),
        ((1, 5, 14, 9, 21, 14, 12, 2, 4, 1), (0, 0, 0, 0, 3, 4, 6, 8, 1, 1)),
    ),
    (  # unknown sex
        ((0, 0, 0, 0, 0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ((0, 0, 0, 2, 2, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 0, 1, 0, 0, 1)),
        ((0, 0, 2, 1, 3, 2, 2, 0, 0, 0), (0, 0, 0, 0, 1, 1, 0, 0, 0, 0)),
        ((0, 0, 0, 1, 1, 2, 0, 2, 0, 0), (0, 0, 0, 0, 0, 0, 1, 1, 0, 0)),
        ((0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ((0, 0, 1, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        ((1, 2, 0, 3, 1, 7, 0, 1, 0, 0), (0, 0, 0, 0, 1, 1, 2, 2, 1, 0)),
        ((0, 1, 1, 2, 3, 2, 1, 0, 0, 0), (0, 0, 0, 0, 0, 0, 2, 1, 0, 1)),
    ),
)

"""Sixteen rules with cyclic bodies over universities: who shares an advisor, a course, a paper or an employer with whom."""

from typing import Final

CYCLIC_RULES: Final = (
    "sameAdvisor(?a, ?b) :- memberOf(?a, ?d), advisor(?a, ?p), memberOf(?b, ?d), advisor(?b, ?p) .",
    "taughtByAdvisor(?s, ?c) :- advisor(?s, ?p), teacherOf(?p, ?c), takesCourse(?s, ?c) .",
    "colleagueOfAdvisor(?s, ?q) :- advisor(?s, ?p), worksFor(?p, ?d), worksFor(?q, ?d), memberOf(?s, ?d) .",
    "sharedCourse(?a, ?b) :- takesCourse(?a, ?c), takesCourse(?b, ?c), advisor(?a, ?p), advisor(?b, ?p) .",
    "jointPaper(?s, ?p) :- publicationAuthor(?w, ?s), publicationAuthor(?w, ?p), advisor(?s, ?p) .",
    "assistsAdvisor(?s, ?c) :- teachingAssistantOf(?s, ?c), teacherOf(?p, ?c), advisor(?s, ?p) .",
    "stayedOn(?s, ?u) :- undergraduateDegreeFrom(?s, ?u), memberOf(?s, ?d), subOrganizationOf(?d, ?u) .",
    "cameWith(?a, ?b) :- undergraduateDegreeFrom(?a, ?u), undergraduateDegreeFrom(?b, ?u), "
    "memberOf(?a, ?d), memberOf(?b, ?d) .",
    "sameSchool(?s, ?p) :- undergraduateDegreeFrom(?s, ?u), doctoralDegreeFrom(?p, ?u), advisor(?s, ?p) .",
    "rivals(?p, ?q) :- worksFor(?p, ?d), worksFor(?q, ?d), doctoralDegreeFrom(?p, ?u), doctoralDegreeFrom(?q, ?u) .",
    "mentored(?s, ?q) :- advisor(?s, ?p), publicationAuthor(?w, ?p), publicationAuthor(?w, ?q), "
    "teacherOf(?q, ?c), takesCourse(?s, ?c) .",
    "helped(?s, ?t) :- teachingAssistantOf(?s, ?c), takesCourse(?t, ?c), memberOf(?s, ?d), memberOf(?t, ?d) .",
    "headed(?s, ?p) :- headOf(?p, ?d), worksFor(?p, ?d), memberOf(?s, ?d), takesCourse(?s, ?c), teacherOf(?p, ?c) .",
    "classmates(?a, ?b) :- takesCourse(?a, ?c), takesCourse(?b, ?c), takesCourse(?a, ?e), takesCourse(?b, ?e), "
    "teacherOf(?p, ?c), teacherOf(?p, ?e), advisor(?a, ?p) .",
    "linked(?a, ?b) :- linked(?a, ?c), advisor(?c, ?p), advisor(?b, ?p), memberOf(?a, ?d), memberOf(?b, ?d) .",
    "close(?a, ?b) :- close(?a, ?c), sharedCourse(?c, ?b), memberOf(?c, ?d), memberOf(?a, ?d), advisor(?b, ?p), "
    "advisor(?a, ?p) .",
)
"""The last two are recursive, over the seeds below."""

SEEDS: Final = (
    "linked(?a, ?b) :- jointPaper(?a, ?p), jointPaper(?b, ?p) .",
    "close(?a, ?b) :- assistsAdvisor(?a, ?c), taughtByAdvisor(?b, ?c) .",
)

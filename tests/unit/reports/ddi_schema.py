"""DDI-Codebook 2.5, as far as codebooks use it: which children an element has, in which order and how often, and which
attributes with which values. `errors` reads a document by it.

No package that can be installed brings the XSD. The entries of `codeBook`, `citation`, `method`, `var`, `catgry`,
`catStat`, `sumStat` and `varFormat` were compared with a public copy of it; the others are from memory."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

DDI = "{ddi:codebook:2_5}"
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
PLACE = "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"
NAME = re.compile(r"[A-Za-z_][\w.-]*")

CHILDREN: dict[str, str] = {
    "codeBook": "docDscr* stdyDscr+ fileDscr* dataDscr* otherMat*",
    "stdyDscr": "citation+ studyAuthorization* stdyInfo* studyDevelopment* method* dataAccs* othrStdyMat* notes*",
    "citation": "titlStmt rspStmt? prodStmt? distStmt? serStmt* verStmt* biblCit? holdings* notes*",
    "titlStmt": "titl subTitl* altTitl* parTitl* IDNo*",
    "method": "dataColl* notes* anlyInfo? stdyClas? dataProcessing* codingInstructions*",
    "fileDscr": "fileTxt* locMap? notes*",
    "fileTxt": "fileName* fileCitation? dataFingerprint* fileCont? fileStrc? dimensns? fileType* format* filePlac* "
    "dataChck* ProcStat* dataMsng* software* verStmt*",
    "dimensns": "caseQnty* varQnty* logRecL* recPrCas* recNumTot*",
    "dataDscr": "varGrp* nCubeGrp* var* nCube* notes*",
    "var": "location* labl* imputation? security? embargo? respUnit? anlysUnit? qstn* valrng* invalrng* undocCod* "
    "universe* TotlResp? sumStat* txt* stdCatgry* catgryGrp* catgry* codInstr* verStmt* concept* derivation? "
    "varFormat? geoMap* catLevel* notes*",
    "valrng": "item* range* key* notes*",
    "invalrng": "item* range* key* notes*",
    "catgry": "catValu? labl* txt* catStat* mrow?",
}
"""The content of elements that have children, in order; any other one has text only."""
ATTRIBUTES: dict[str, dict[str, str]] = {
    "codeBook": {"version": "2.5", LANGUAGE: r"[a-z]{2}", PLACE: r"ddi:codebook:2_5 \S+codebook\.xsd"},
    "fileDscr": {"ID": NAME.pattern},
    "var": {
        "ID": NAME.pattern,
        "name": r".+",
        "files": NAME.pattern,
        "intrvl": "contin|discrete",
        "wgt": "wgt|not-wgt",
    },
    "range": {"UNITS": "INT|REAL", "min": r".+", "max": r".+"},
    "item": {"UNITS": "INT|REAL", "VALUE": r".+"},
    "sumStat": {"type": "mean|medn|mode|vald|invd|min|max|stdev|other"},
    "catgry": {"missing": "Y|N"},
    "catStat": {"type": "freq|percent|crosstab|other"},
    "varFormat": {"type": "numeric|character"},
    "notes": {"type": r".+", "subject": r".+", "level": r".+"},
}


def errors(text: str) -> list[str]:
    """What is wrong with a document, in the order of its elements."""
    root = ElementTree.fromstring(text)
    found = [] if root.tag == f"{DDI}codeBook" and root.get("version") == "2.5" else ["the root is no codeBook 2.5"]
    for element in root.iter():
        tag = element.tag.removeprefix(DDI)
        names = [child.tag.removeprefix(DDI) for child in element]
        if not element.tag.startswith(DDI):
            found.append(f"{tag} is of no or another namespace")
        found += _content(tag, names)
        if tag in CHILDREN and (element.text or "").strip():
            found.append(f"{tag} has text beside its children")
        for name, value in element.attrib.items():
            pattern = ATTRIBUTES.get(tag, {}).get(name)
            if pattern is None or not re.fullmatch(pattern, value, re.DOTALL):
                found.append(f"{tag} has no such attribute, or not with this value: {name}")
    identities = Counter(element.get("ID") for element in root.iter() if element.get("ID"))
    found += [f"the ID {name} is given twice" for name, count in identities.items() if count > 1]
    referred = {each for element in root.iter() for each in (element.get("files") or "").split()}
    return found + [f"nothing has the ID {name}" for name in sorted(referred - set(identities))]


def _content(tag: str, names: list[str]) -> list[str]:
    """What is wrong with the children of an element."""
    if tag not in CHILDREN:
        return [f"{tag} has children"] if names else []
    pattern = "".join(
        f"(?:{part.rstrip('*+?')} ){part[-1] if part[-1] in '*+?' else ''}" for part in CHILDREN[tag].split()
    )
    fits = re.fullmatch(pattern, "".join(f"{name} " for name in names))
    return [] if fits else [f"{tag} has {', '.join(dict.fromkeys(names)) or 'nothing'}, in this order or number"]

"""Names of people: common given names and surnames of many languages, without accents.

They tell a column of names whatever its heading says. Rare names need not be here, for a third of the values is enough;
names that mean something else as well (colours, months, trades, places) are left out.
"""

from __future__ import annotations

import re
import unicodedata

_GIVEN = """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony donald
    steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary nicholas
    eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander raymond patrick dennis jerry
    tyler aaron henry douglas peter adam nathan zachary walter kyle harold carl jeremy keith roger arthur terry
    lawrence sean ethan joe albert jesse willie billy bryan bruce noah dylan ralph roy alan liam mary patricia jennifer
    linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly emily donna
    michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia dorothy amy kathleen angela shirley
    emma brenda pamela nicole anna samantha katherine christine debra rachel carolyn janet maria olivia heather helen
    catherine diane julie joyce lauren kelly christina ruth joan judith evelyn hannah andrea megan cheryl jacqueline
    teresa abigail sophia martha sara gloria janice kathryn isabella judy julia alice jean denise frances danielle
    marilyn natalie beverly diana brittany theresa alexis kayla lucy oliver harry oscar leo archie freddie isla ava
    freya alfie chloe ella hans klaus wolfgang heinz jurgen juergen uwe stefan andreas matthias markus sebastian tobias
    florian lukas felix maximilian jonas finn fritz karl otto ernst ludwig gunter guenter horst manfred dieter rainer
    bernd ralf torsten sven jens holger ursula monika petra sabine renate helga karin brigitte ingrid erika christa
    gisela claudia susanne gabriele katharina lena leonie johanna heike birgit martina anja silke katja greta frieda
    mathilda anneliese pierre michel andre philippe alain jacques bernard marcel louis nicolas julien francois laurent
    antoine hugo lucas theo mathieu guillaume olivier marie jeanne francoise monique nathalie isabelle anne sylvie
    martine sophie camille manon lea celine aurelie chantal veronique antonio jose manuel francisco juan javier carlos
    miguel alejandro rafael pedro pablo sergio fernando luis alberto alvaro diego adrian raul enrique ramon vicente
    ruben andres joaquin eduardo victor roberto jaime mario ignacio alfonso ricardo marcos jorge emilio julio guillermo
    carmen ana isabel josefa cristina lucia elena paula raquel manuela beatriz juana sonia montserrat irene encarnacion
    luisa silvia nuria marta giuseppe giovanni luigi stefano marco francesco alessandro lorenzo matteo davide riccardo
    luca salvatore angelo vincenzo pietro domenico paolo enrico fabio giorgio franco claudio simone federico tommaso
    giulia chiara francesca valentina alessia elisa paola giovanna giuseppina caterina antonella daniela simona
    federica serena ilaria elisabetta joao tiago rui goncalo duarte afonso paulo luiz marcelo rodrigo gustavo felipe
    leonardo thiago caio vitor henrique joana ines mariana matilde leonor catarina fernanda juliana camila larissa
    leticia gabriela renata adriana tatiana piet kees henk willem johannes cornelis pieter hendrik gerrit dirk sander
    thijs daan bram lars jeroen maarten joost wim cornelia elisabeth sanne lotte anouk femke marieke annemarie erik
    olof nils anders johan bjorn magnus astrid kristina birgitta maja elsa mikael matti juhani jakub krzysztof andrzej
    tomasz piotr pawel marcin michal jerzy stanislaw katarzyna malgorzata agnieszka krystyna ewa magdalena elzbieta
    zofia joanna dmitri sergei vladimir ivan aleksandr mikhail andrei natalia olga svetlana irina mehmet mustafa ahmet
    ali huseyin hasan ibrahim fatma ayse emine hatice zeynep mohammed mohamed muhammad ahmed omar hassan youssef khalid
    abdullah fatima aisha khadija mariam zainab layla yuki hiroshi takashi kenji akira sakura yoko keiko naoko haruto
    raj rahul amit sanjay vijay anil sunil priya anita sunita deepak pooja neha kumar lakshmi arjun
"""
_FAMILY = """
    smith johnson williams jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson thomas
    taylor moore jackson martin perez thompson harris sanchez clark ramirez lewis robinson allen wright scott torres
    nguyen flores adams nelson rivera campbell mitchell roberts gomez phillips evans turner diaz edwards collins reyes
    stewart morris morales murphy rogers gutierrez ortiz morgan peterson bailey kelly howard ramos richardson watson
    chavez james bennett mendoza ruiz hughes alvarez castillo sanders patel myers ross jimenez powell jenkins russell
    sullivan coleman henderson barnes gonzales vasquez simmons romero patterson alexander hamilton graham reynolds
    griffin wallace moreno hayes bryant herrera gibson mueller muller schmidt schneider fischer weber meyer wagner
    schulz hoffmann schafer koch bauer richter schroder neumann zimmermann braun kruger hofmann hartmann schmitt
    schmitz krause meier lehmann schmid schulze maier kohler herrmann walter mayer huber peters moller hahn schubert
    vogel friedrich keller gunther berger winkler beck lorenz baumann franke albrecht bernard dubois durand robert
    moreau laurent lefebvre michel bertrand morel fournier girard bonnet dupont lambert fontaine rousseau vincent faure
    mercier guerin boyer garnier chevalier legrand gauthier fernandez alonso navarro dominguez vazquez gil serrano
    molina suarez ortega delgado castro rubio sanz iglesias nunez medina garrido rossi russo ferrari esposito bianchi
    colombo ricci conti gallo giordano mancini rizzo lombardi moretti barbieri fontana santoro mariani rinaldi caruso
    ferrara galli martini silva ferreira pereira oliveira rodrigues martins sousa fernandes goncalves gomes lopes
    marques alves almeida ribeiro carvalho teixeira moreira correia mendes nunes soares vieira monteiro cardoso jong
    jansen vries dijk bakker janssen visser smit meijer mulder dekker brouwer dijkstra smits graaf hansen johansson
    andersson karlsson nilsson eriksson larsson olsson jensen nielsen olsen pedersen korhonen virtanen makinen nowak
    kowalski wisniewski wojcik kowalczyk kaminski lewandowski ivanov petrov smirnov kuznetsov popov yilmaz kaya demir
    celik sahin wang li zhang liu chen yang huang zhao wu zhou sato suzuki takahashi tanaka watanabe singh sharma gupta
    khan ali hussain ahmed
"""
NAMES = frozenset((_GIVEN + _FAMILY).split())
LONGEST = 4
"""Words that the name of a person has at most."""


def is_name(text: str) -> bool:
    """Whether a text reads as the name of a person: a few words of letters, one of them a common name.

    Example:
        >>> is_name("Müller, Anna"), is_name("Gérard Dupont"), is_name("Bachelors"), is_name("Anna 3")
        (True, True, False, False)
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    words = re.findall(r"[a-z]+", plain.casefold())
    return not any(sign.isdigit() for sign in text) and len(words) <= LONGEST and not NAMES.isdisjoint(words)

{# Made from the models' SQL by `make docs`. #}

{% macro snowflake__k_anonymity(table, quasi, sensitive, person, bound, worst) %}
{%- if person is none %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(*) AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "classes" AS (
  SELECT
    "class",
    "size" AS "level"
  FROM "sizes"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(*)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(*)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- else %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ person }} AS "person"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(DISTINCT "person") AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "classes" AS (
  SELECT
    "class",
    "size" AS "level"
  FROM "sizes"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- endif %}
{% endmacro %}

{% macro snowflake__distinct_l_diversity(table, quasi, sensitive, person, bound, worst) %}
{%- if person is none %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(*) AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(*) AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "counted"."value" AS "value",
    "n",
    "size"
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
), "cells" AS (
  SELECT
    *
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    COUNT(*) AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(*)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(*)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- else %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value",
    {{ person }} AS "person"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(DISTINCT "person") AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(DISTINCT "person") AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "counted"."value" AS "value",
    "n",
    "size"
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
), "cells" AS (
  SELECT
    *
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    CASE WHEN COUNT(*) < MAX("size") THEN COUNT(*) ELSE MAX("size") END AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- endif %}
{% endmacro %}

{% macro snowflake__entropy_l_diversity(table, quasi, sensitive, person, bound, worst) %}
{%- if person is none %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(*) AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(*) AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "counted"."value" AS "value",
    "n",
    "size"
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
), "cells" AS (
  SELECT
    *,
    SUM("n") OVER (PARTITION BY "class") AS "mass"
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    EXP(LN(MAX("mass")) - CAST(SUM("n" * LN("n")) AS DOUBLE) / MAX("mass")) AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(*)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(*)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- else %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value",
    {{ person }} AS "person"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(DISTINCT "person") AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(DISTINCT "person") AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "counted"."value" AS "value",
    "n",
    "size"
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
), "cells" AS (
  SELECT
    *,
    SUM("n") OVER (PARTITION BY "class") AS "mass"
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    CASE
      WHEN EXP(LN(MAX("mass")) - CAST(SUM("n" * LN("n")) AS DOUBLE) / MAX("mass")) < MAX("size")
      THEN EXP(LN(MAX("mass")) - CAST(SUM("n" * LN("n")) AS DOUBLE) / MAX("mass"))
      ELSE MAX("size")
    END AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- endif %}
{% endmacro %}

{% macro snowflake__frequency_l_diversity(table, quasi, sensitive, person, bound, worst) %}
{%- if person is none %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(*) AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(*) AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "counted"."value" AS "value",
    "n",
    "size"
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
), "cells" AS (
  SELECT
    *
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    CAST(MAX("size") * 1.0 AS DOUBLE) / MAX("n") AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(*)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(*)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- else %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value",
    {{ person }} AS "person"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(DISTINCT "person") AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(DISTINCT "person") AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "counted"."value" AS "value",
    "n",
    "size"
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
), "cells" AS (
  SELECT
    *
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    CASE
      WHEN CAST(MAX("size") * 1.0 AS DOUBLE) / MAX("n") < MAX("size")
      THEN CAST(MAX("size") * 1.0 AS DOUBLE) / MAX("n")
      ELSE MAX("size")
    END AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" < {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MIN("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- endif %}
{% endmacro %}

{% macro snowflake__t_closeness(table, quasi, sensitive, person, bound, worst) %}
{%- if person is none %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(*) AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(*) AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "known" AS (
  SELECT
    "value",
    COUNT(*) AS "prior",
    1 AS "chosen",
    (
      SELECT
        COUNT(*)
      FROM "entries"
    ) AS "records",
    SUM(COUNT(*)) OVER () AS "whole",
    DENSE_RANK() OVER (ORDER BY "value") AS "place",
    1 AS "shown"
  FROM "entries"
  GROUP BY
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "sizes"."size" AS "size",
    "counted"."n" AS "n",
    "known".*
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
  JOIN "known"
    ON "known"."value" IS NOT DISTINCT FROM "counted"."value" AND "known"."shown" = 1
), "cells" AS (
  SELECT
    *,
    SUM("n") OVER (PARTITION BY "class") AS "mass"
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    SUM(
      CASE
        WHEN CAST("n" * 1.0 AS DOUBLE) / "mass" - CAST("prior" * 1.0 AS DOUBLE) / "whole" > 0
        THEN CAST("n" * 1.0 AS DOUBLE) / "mass" - CAST("prior" * 1.0 AS DOUBLE) / "whole"
        ELSE 0
      END
    ) AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" > {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(*)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(*)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MAX("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- else %}
WITH "entries" AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY {{ quasi | join(', ') }}) AS "class",
    {{ sensitive }} AS "value",
    {{ person }} AS "person"
  FROM {{ table }}
), "sizes" AS (
  SELECT
    "class",
    COUNT(DISTINCT "person") AS "size"
  FROM "entries"
  GROUP BY
    "class"
), "counted" AS (
  SELECT
    "class",
    "value",
    COUNT(DISTINCT "person") AS "n"
  FROM "entries"
  GROUP BY
    "class",
    "value"
), "known" AS (
  SELECT
    "value",
    COUNT(DISTINCT "person") AS "prior",
    1 AS "chosen",
    (
      SELECT
        COUNT(DISTINCT "person")
      FROM "entries"
    ) AS "records",
    SUM(COUNT(DISTINCT "person")) OVER () AS "whole",
    DENSE_RANK() OVER (ORDER BY "value") AS "place",
    1 AS "shown"
  FROM "entries"
  GROUP BY
    "value"
), "joined" AS (
  SELECT
    "counted"."class" AS "class",
    "sizes"."size" AS "size",
    "counted"."n" AS "n",
    "known".*
  FROM "counted"
  JOIN "sizes"
    ON "sizes"."class" = "counted"."class"
  JOIN "known"
    ON "known"."value" IS NOT DISTINCT FROM "counted"."value" AND "known"."shown" = 1
), "cells" AS (
  SELECT
    *,
    SUM("n") OVER (PARTITION BY "class") AS "mass"
  FROM "joined"
), "classes" AS (
  SELECT
    "class",
    SUM(
      CASE
        WHEN CAST("n" * 1.0 AS DOUBLE) / "mass" - CAST("prior" * 1.0 AS DOUBLE) / "whole" > 0
        THEN CAST("n" * 1.0 AS DOUBLE) / "mass" - CAST("prior" * 1.0 AS DOUBLE) / "whole"
        ELSE 0
      END
    ) AS "level"
  FROM "cells"
  GROUP BY
    "class"
), "broken" AS (
  SELECT
    "class"
  FROM "classes"
  WHERE
    "level" > {{ worst }}
), "told" AS (
  SELECT
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
      WHERE
        "class" IN (
          SELECT
            "class"
          FROM "broken"
        )
    ) AS exposed_people,
    (
      SELECT
        COUNT(DISTINCT "person") + SUM(CASE WHEN "person" IS NULL THEN 1 ELSE 0 END)
      FROM "entries"
    ) AS people,
    (
      SELECT
        COUNT(*)
      FROM "broken"
    ) AS exposed_groups,
    COUNT(*) AS all_groups,
    MAX("level") AS worst_level,
    {{ bound }} AS bound
  FROM "classes"
)
SELECT
  *
FROM "told"
WHERE
  exposed_groups > 0
{%- endif %}
{% endmacro %}

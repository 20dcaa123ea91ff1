{# Made from the models' SQL by `make docs`. #}

{% test k_anonymous(model, quasi, k, person=none) %}
{{ config(fail_calc='coalesce(max(exposed_people), 0)') }}
{%- set columns = shoal.checked('k_anonymous', quasi, 'k', k, 1, none) %}
{{ shoal.k_anonymity(model, columns, none, person, k, k) }}
{% endtest %}

{% test l_diverse(model, quasi, sensitive, l, notion='distinct', person=none) %}
{{ config(fail_calc='coalesce(max(exposed_people), 0)') }}
{%- set columns = shoal.checked('l_diverse', quasi, 'l', l, 1, none) %}
{%- set worst = l - 1e-12 * ([l, 1] | max) %}
{%- if notion == 'distinct' %}
{{ shoal.distinct_l_diversity(model, columns, sensitive, person, l, l) }}
{%- elif notion == 'entropy' %}
{{ shoal.entropy_l_diversity(model, columns, sensitive, person, l, worst) }}
{%- elif notion == 'frequency' %}
{{ shoal.frequency_l_diversity(model, columns, sensitive, person, l, worst) }}
{%- else %}
{%- do exceptions.raise_compiler_error('l_diverse: notion is distinct, entropy or frequency') %}
{%- endif %}
{% endtest %}

{% test t_close(model, quasi, sensitive, t, person=none) %}
{{ config(fail_calc='coalesce(max(exposed_people), 0)') }}
{%- set columns = shoal.checked('t_close', quasi, 't', t, 0, 1) %}
{{ shoal.t_closeness(model, columns, sensitive, person, t, t + 1e-12) }}
{% endtest %}

{% macro checked(test, quasi, name, bound, least, most) %}
{#- The columns as a list; refuses a bound that is none. #}
{%- if bound is not number or bound < least or (most is not none and bound > most) %}
{%- set range = 'at least ' ~ least if most is none else 'between ' ~ least ~ ' and ' ~ most %}
{%- do exceptions.raise_compiler_error(test ~ ': ' ~ name ~ ' is a number, ' ~ range) %}
{%- endif %}
{%- if not quasi %}
{%- do exceptions.raise_compiler_error(test ~ ': quasi names the columns that outsiders may know, at least one') %}
{%- endif %}
{%- do return([quasi] if quasi is string else quasi) %}
{% endmacro %}

{% macro k_anonymity(table, quasi, sensitive, person, bound, worst) %}
{{- adapter.dispatch('k_anonymity', 'shoal')(table, quasi, sensitive, person, bound, worst) }}
{% endmacro %}

{% macro distinct_l_diversity(table, quasi, sensitive, person, bound, worst) %}
{{- adapter.dispatch('distinct_l_diversity', 'shoal')(table, quasi, sensitive, person, bound, worst) }}
{% endmacro %}

{% macro entropy_l_diversity(table, quasi, sensitive, person, bound, worst) %}
{{- adapter.dispatch('entropy_l_diversity', 'shoal')(table, quasi, sensitive, person, bound, worst) }}
{% endmacro %}

{% macro frequency_l_diversity(table, quasi, sensitive, person, bound, worst) %}
{{- adapter.dispatch('frequency_l_diversity', 'shoal')(table, quasi, sensitive, person, bound, worst) }}
{% endmacro %}

{% macro t_closeness(table, quasi, sensitive, person, bound, worst) %}
{{- adapter.dispatch('t_closeness', 'shoal')(table, quasi, sensitive, person, bound, worst) }}
{% endmacro %}

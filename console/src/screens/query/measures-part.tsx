import type { Measure, MeasureFunction, QueryField } from '../../api/schema.gen.d.ts'
import { Button } from '../../ui/parts.tsx'
import type { Body } from './body.ts'
import { type PartProps, SortPart } from './builder-parts.tsx'
import { type Choices, ChoicesProvider, FieldSelect, useChoices } from './fields.tsx'
import { FilterEditor } from './filter-editor.tsx'
import { GroupsPart } from './groups-part.tsx'
import { placed, withItem } from './placed.ts'
import css from './query.module.css'

const functionTexts: Record<MeasureFunction, string> = {
  count: 'number of records',
  count_distinct: 'number of different',
  sum: 'sum of',
  avg: 'average of',
  min: 'smallest',
  max: 'largest',
  p50: 'median of',
  p90: '90th percentile of',
  p95: '95th percentile of',
  p99: '99th percentile of',
  rate: 'per second',
  error_rate: 'share of errors',
}
const functions = Object.keys(functionTexts) as MeasureFunction[]

/** The measures of an aggregate, and its groups. */
export function MeasuresPart({ body, change }: PartProps) {
  const { measures = [] } = body
  const withFill = body.fill === true
  return (
    <>
      <fieldset className={css.part}>
        <legend>Measure</legend>
        {placed(measures).map(({ item, at, key }) => (
          <MeasureLine
            key={key}
            measure={item}
            isOnly={measures.length === 1}
            onChange={(changed) => change({ measures: withItem(measures, at, changed) })}
          />
        ))}
        <div className={css.line}>
          <Button
            small
            onClick={() => {
              const as = freeName('count', measures)
              change({ measures: [...measures, { fn: 'count', as }] })
            }}
          >
            Add a measure
          </Button>
        </div>
      </fieldset>
      <GroupsPart body={body} change={change} />
      <ChoicesProvider value={useColumns(body)}>
        <FilterEditor
          title="Keep groups where"
          filter={body.having}
          first={measures[0]?.as ?? ''}
          onChange={(having) => change({ having })}
        />
        {!withFill && <SortPart body={body} change={change} />}
      </ChoicesProvider>
    </>
  )
}

function freeName(wanted: string, measures: readonly Measure[]): string {
  const isTaken = (name: string) => measures.some(({ as }) => as === name)
  let [name, at] = [wanted, 2]
  while (isTaken(name)) name = `${wanted}_${at++}`
  return name
}

/** Returns the measures as fields that can be compared and sorted by. */
function useColumns({ measures = [], group_by = [] }: Body): Choices {
  const { all, fields } = useChoices()
  const typeOf = ({ fn, field }: Measure): QueryField['type'] => {
    if (fn === 'count' || fn === 'count_distinct') return 'integer'
    const type = fields.find(({ name }) => name === field)?.type
    return type === 'decimal' || type === 'time' ? type : 'float'
  }
  const flags = { nullable: true, large: false, indexed: false, sortable: true, groupable: false }
  const measured = measures.map((each) => {
    return { name: each.as, type: typeOf(each), description: '', ...flags }
  })
  const groups = group_by.map((each) => {
    const name = typeof each === 'string' ? each : 'time_bucket'
    return { name, type: 'text' as const, description: '', ...flags }
  })
  return { all, maps: [], fields: [...measured, ...groups] }
}

function MeasureLine({
  measure,
  isOnly,
  onChange,
}: {
  measure: Measure
  isOnly: boolean
  onChange: (measure: Measure | undefined) => void
}) {
  const { all } = useChoices()
  const { fn, field, as } = measure
  const needsField = !all.functions_without_field.includes(fn)
  const takesField = needsField || fn === 'rate'
  const isAllowed = (of: MeasureFunction) => (candidate: QueryField) =>
    all.types.find(({ type }) => type === candidate.type)?.functions.includes(of) === true
  const { fields } = useChoices()
  const setFunction = (next: MeasureFunction) => {
    const kept = fields.find((each) => each.name === field && isAllowed(next)(each))?.name
    const asks = !all.functions_without_field.includes(next)
    const usual = fields.find((each) => each.name === 'duration_ms' && isAllowed(next)(each))
    const chosen = kept ?? (asks ? (usual ?? fields.find(isAllowed(next)))?.name : undefined)
    onChange({ fn: next, ...(chosen && { field: chosen }), as: nameOf(next, chosen) })
  }
  return (
    <div className={css.line}>
      <select
        aria-label="Function"
        value={fn}
        onChange={(event) => setFunction(event.target.value as MeasureFunction)}
      >
        {functions.map((each) => (
          <option key={each} value={each}>
            {functionTexts[each]}
          </option>
        ))}
      </select>
      {takesField && (
        <FieldSelect
          label={`Field of ${fn}`}
          value={field ?? ''}
          allow={isAllowed(fn)}
          withKeys
          {...(!needsField && { none: 'records' })}
          onChange={(name) =>
            onChange(name === '' ? { fn, as } : { fn, field: name, as: nameOf(fn, name) })
          }
        />
      )}
      as
      <input
        type="text"
        aria-label={`Name of the measure ${as}`}
        value={as}
        onChange={(event) => onChange({ ...measure, as: event.target.value })}
      />
      {!isOnly && (
        <Button small look="plain" aria-label={`Remove ${as}`} onClick={() => onChange(undefined)}>
          ×
        </Button>
      )}
    </div>
  )
}

/** Returns the usual name of a measure: `p95_duration_ms`. */
function nameOf(fn: MeasureFunction, field: string | undefined): string {
  const name = field === undefined ? fn : `${fn}_${field}`
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '_')
    .slice(0, 64)
}

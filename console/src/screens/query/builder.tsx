import type { QueryEntity, QueryFields } from '../../api/schema.gen.d.ts'
import { Button, classes } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import { type Body, entities, type Filter } from './body.ts'
import { type BodyChange, Flag, type PartProps, SortPart } from './builder-parts.tsx'
import { type Choices, ChoicesProvider, entityNamed, useChoices } from './fields.tsx'
import { FilterEditor } from './filter-editor.tsx'
import { conditionsIn } from './filter-tree.ts'
import { MeasuresPart } from './measures-part.tsx'
import { latestOf } from './presets.ts'
import css from './query.module.css'

/** The form of a query. Everything in it is a choice of what the API lists. */
export function Builder({
  all,
  body,
  onChange,
}: {
  all: QueryFields
  body: Body
  onChange: (body: Body) => void
}) {
  const about = entityNamed(all, body.entity)
  const choices: Choices = { all, fields: about?.fields ?? [], maps: about?.maps ?? [] }
  const change = (values: BodyChange) => onChange(withoutAbsent({ ...body, ...values }))
  const first = choices.fields.find(({ name }) => name === 'name' || name === 'type')?.name
  return (
    <ChoicesProvider value={choices}>
      <div className={css.builder}>
        <KindPart body={body} all={all} onChange={onChange} change={change} />
        <FilterEditor
          title="Where"
          wholeLine
          filter={body.where}
          first={first ?? choices.fields[0]?.name ?? ''}
          onChange={(where: Filter | undefined) => change({ where })}
        />
        {body.measures === undefined ? (
          <RecordsPart body={body} change={change} />
        ) : (
          <MeasuresPart body={body} change={change} />
        )}
      </div>
    </ChoicesProvider>
  )
}

function withoutAbsent(body: BodyChange): Body {
  const known = Object.entries(body).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as Body
}

/** Returns the filter if it can be used with another entity. */
function keptFilter(where: Filter | undefined, all: QueryFields, entity: QueryEntity) {
  if (where === undefined) return {}
  const about = entityNamed(all, entity)
  const isThere = (name: string) =>
    about?.fields.some((field) => field.name === name) === true ||
    about?.maps.some((map) => name.startsWith(`${map}.`)) === true
  return conditionsIn(where).every(({ field }) => isThere(field)) ? { where } : {}
}

function KindPart({
  body,
  all,
  onChange,
  change,
}: PartProps & { all: QueryFields; onChange: (body: Body) => void }) {
  const { entity, where, measures, include_restored, allow_wide, limit } = body
  const about = entityNamed(all, entity)
  const setEntity = (name: QueryEntity) => {
    const kept = keptFilter(where, all, name)
    const counted = { entity: name, measures: [{ fn: 'count' as const, as: 'count' }] }
    onChange({ ...(measures === undefined ? latestOf(name) : counted), ...kept })
  }
  const setKind = (kind: string) => {
    const base = kind === 'records' ? latestOf(entity) : { entity }
    const counted = { measures: [{ fn: 'count' as const, as: 'count' }] }
    onChange({ ...base, ...(where && { where }), ...(kind === 'measures' && counted) })
  }
  return (
    <fieldset className={classes(css.part, css.wholeLine)}>
      <legend>Read</legend>
      <div className={css.line}>
        <select
          aria-label="What is read"
          value={measures === undefined ? 'records' : 'measures'}
          onChange={(event) => setKind(event.target.value)}
        >
          <option value="records">records</option>
          <option value="measures">measures by group</option>
        </select>
        of
        <select
          aria-label="Kind of record"
          data-filter
          value={entity}
          onChange={(event) => setEntity(event.target.value as QueryEntity)}
        >
          {entities.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <LimitInput limit={limit} onChange={(rows) => change({ limit: rows })} />
        {measures === undefined ? 'rows a page' : 'rows at most'}
        <Flag
          label="with restored archives"
          isOn={include_restored === true}
          isShown={about?.restorable === true || include_restored === true}
          onChange={(isOn) => change({ include_restored: isOn || undefined })}
        />
        <Flag
          label="more than 90 days"
          isOn={allow_wide === true}
          isShown
          onChange={(isOn) => change({ allow_wide: isOn || undefined })}
        />
      </div>
      <span className={ui.soft}>{about?.description}</span>
    </fieldset>
  )
}

function LimitInput({
  limit,
  onChange,
}: {
  limit: number | undefined
  onChange: (limit: number | undefined) => void
}) {
  return (
    <input
      type="number"
      className={css.short}
      aria-label="Number of rows"
      min={1}
      max={10_000}
      placeholder="50"
      value={limit ?? ''}
      onChange={({ target: { value } }) => onChange(value === '' ? undefined : Number(value))}
    />
  )
}

function RecordsPart({ body, change }: PartProps) {
  const { fields, maps } = useChoices()
  const { select } = body
  const names = [...fields.map(({ name }) => name), ...maps]
  const extra = (select ?? []).filter((name) => !names.includes(name))
  const isOn = (name: string) =>
    select === undefined ? fields.some((f) => f.name === name && !f.large) : select.includes(name)
  const toggle = (name: string) => {
    const before = select ?? names.filter(isOn)
    const after = before.includes(name) ? before.filter((each) => each !== name) : [...before, name]
    change({ select: after.length === 0 ? undefined : after })
  }
  return (
    <>
      <fieldset className={css.part}>
        <legend>Columns</legend>
        <details>
          <summary>
            {select === undefined ? 'All columns but large ones' : select.join(', ')}
          </summary>
          <div className={css.columns}>
            {[...names, ...extra].map((name) => (
              <Flag
                key={name}
                label={name}
                isOn={isOn(name)}
                isShown
                onChange={() => toggle(name)}
              />
            ))}
          </div>
          <Button small look="plain" onClick={() => change({ select: undefined })}>
            All columns but large ones
          </Button>
        </details>
      </fieldset>
      <SortPart body={body} change={change} allow={({ sortable }) => sortable} withKeys />
    </>
  )
}

import { useState } from 'react'
import type { FilterOperator, QueryFieldType } from '../../api/schema.gen.d.ts'
import { Button, classes } from '../../ui/parts.tsx'
import type { Condition, Filter } from './body.ts'
import { FieldSelect, operatorsOf, typeOf, useChoices } from './fields.tsx'
import {
  addTo,
  type FilterPath,
  groupOf,
  isCondition,
  makeGroup,
  negate,
  replaceAt,
} from './filter-tree.ts'
import { placed } from './placed.ts'
import css from './query.module.css'
import { firstValue, isListOperator, readValue, readValues, writeValue } from './values.ts'

const operatorTexts: Record<FilterOperator, string> = {
  eq: 'is',
  ne: 'is not',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  in: 'is one of',
  not_in: 'is none of',
  contains: 'contains',
  starts_with: 'begins with',
  exists: 'is known',
}

type Edit = (path: FilterPath, part: Filter | undefined) => void

/** The filters of a query: conditions, and groups of them of which all or any must match. */
export function FilterEditor({
  title,
  filter,
  first,
  wholeLine,
  onChange,
}: {
  title: string
  wholeLine?: boolean
  filter: Filter | undefined
  /** Field of a new condition. */
  first: string
  onChange: (filter: Filter | undefined) => void
}) {
  const edit: Edit = (path, part) => {
    if (filter !== undefined) onChange(replaceAt(filter, path, part))
  }
  const add = (part: Filter) => onChange(addTo(filter, part))
  const fresh = useFresh(first)
  return (
    <fieldset className={classes(css.part, wholeLine && css.wholeLine)}>
      <legend>{title}</legend>
      {filter !== undefined && <Part filter={filter} path={[]} edit={edit} first={first} />}
      <div className={css.line}>
        <Button small onClick={() => add(fresh())}>
          Add a condition
        </Button>
        <Button small look="plain" onClick={() => add({ or: [fresh(), fresh()] })}>
          Add a group
        </Button>
      </div>
    </fieldset>
  )
}

/** Returns a function that makes a condition to begin with. */
function useFresh(field: string): () => Condition {
  const choices = useChoices()
  const [op = 'eq'] = operatorsOf(choices, field)
  const type = typeOf(choices, field)
  return () => ({ field, op, value: firstValue(op, type, undefined) })
}

type PartProps = { filter: Filter; path: FilterPath; edit: Edit; first: string }

function Part({ negatedAt, ...props }: PartProps & { negatedAt?: FilterPath }) {
  const { filter, path, edit, first } = props
  if ('not' in filter) {
    const inner = { filter: filter.not, path: [...path, 'not' as const], edit, first }
    if (negatedAt === undefined) return <Part {...inner} negatedAt={path} />
    return (
      <div className={css.group}>
        <Not isOn onClick={() => edit(negatedAt, filter)} />
        <Part {...inner} />
      </div>
    )
  }
  const isNegated = negatedAt !== undefined
  const toggle = () => edit(negatedAt ?? path, isNegated ? filter : negate(filter))
  const not = <Not isOn={isNegated} onClick={toggle} />
  if (isCondition(filter)) {
    return (
      <div className={css.line}>
        {not}
        <ConditionInputs condition={filter} onChange={(changed) => edit(path, changed)} />
        <Remove what={`the condition on ${filter.field}`} onClick={() => edit(path, undefined)} />
      </div>
    )
  }
  return (
    <Group {...props}>
      {not}
      {path.length > 0 && <Remove what="the group" onClick={() => edit(path, undefined)} />}
    </Group>
  )
}

function Group({ filter, path, edit, first, children }: PartProps & { children: React.ReactNode }) {
  const fresh = useFresh(first)
  const group = groupOf(filter)
  if (group === undefined) return null
  const { kind, parts } = group
  return (
    <div className={path.length > 0 ? css.group : css.root}>
      <div className={css.line}>
        <select
          aria-label="How the conditions of the group are joined"
          value={kind}
          onChange={(event) => edit(path, makeGroup(event.target.value as 'and', parts))}
        >
          <option value="and">all of</option>
          <option value="or">any of</option>
        </select>
        {children}
      </div>
      {placed(parts).map(({ item, at, key }) => (
        <Part key={key} filter={item} path={[...path, at]} edit={edit} first={first} />
      ))}
      {path.length > 0 && (
        <div className={css.line}>
          <Button
            small
            look="plain"
            onClick={() => edit(path, makeGroup(kind, [...parts, fresh()]))}
          >
            Add to the group
          </Button>
        </div>
      )}
    </div>
  )
}

function Not({ isOn, onClick }: { isOn: boolean; onClick: () => void }) {
  return (
    <button
      type="button"
      className={isOn ? css.notOn : css.not}
      aria-pressed={isOn}
      onClick={onClick}
    >
      not
    </button>
  )
}

function Remove({ what, onClick }: { what: string; onClick: () => void }) {
  return (
    <Button small look="plain" aria-label={`Remove ${what}`} onClick={onClick}>
      ×
    </Button>
  )
}

function ConditionInputs({
  condition,
  onChange,
}: {
  condition: Condition
  onChange: (condition: Condition) => void
}) {
  const choices = useChoices()
  const { field, op, value } = condition
  const type = typeOf(choices, field)
  const operators = operatorsOf(choices, field)
  const change = (name: string) => {
    const allowed = operatorsOf(choices, name)
    const next = allowed.includes(op) ? op : (allowed[0] ?? op)
    onChange({ field: name, op: next, value: firstValue(next, typeOf(choices, name), value) })
  }
  return (
    <>
      <FieldSelect label="Field" value={field} onChange={change} withKeys />
      <select
        aria-label={`Comparison of ${field}`}
        value={op}
        onChange={(event) => {
          const next = event.target.value as FilterOperator
          onChange({ field, op: next, value: firstValue(next, type, value) })
        }}
      >
        {[...new Set([...operators, op])].map((each) => (
          <option key={each} value={each}>
            {operatorTexts[each] ?? each}
          </option>
        ))}
      </select>
      <ValueInput condition={condition} type={type} onChange={onChange} />
    </>
  )
}

function ValueInput({
  condition,
  type,
  onChange,
}: {
  condition: Condition
  type: QueryFieldType | undefined
  onChange: (condition: Condition) => void
}) {
  const { field, op, value } = condition
  const label = `Value of ${field}`
  const set = (changed: unknown) => onChange({ field, op, value: changed })
  const written = writeValue(value)
  if (op === 'exists' || type === 'bool') {
    return (
      <select
        aria-label={label}
        value={String(value ?? true)}
        onChange={(event) => set(event.target.value === 'true')}
      >
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    )
  }
  if (written === undefined) return <code>{JSON.stringify(value)}</code>
  const isList = isListOperator(op)
  const read = (text: string) => (isList ? readValues(text, type) : readValue(text, type))
  return <TypedInput label={label} value={value} read={read} isList={isList} onChange={set} />
}

/** An input that keeps what is typed, such as `1.`, while the value is already a number. */
function TypedInput({
  label,
  value,
  read,
  isList,
  onChange,
}: {
  label: string
  value: unknown
  read: (text: string) => unknown
  isList: boolean
  onChange: (value: unknown) => void
}) {
  const [typed, setTyped] = useState('')
  const isSame = JSON.stringify(read(typed)) === JSON.stringify(value)
  const props = {
    'aria-label': label,
    value: isSame ? typed : (writeValue(value) ?? ''),
    onChange: (event: { target: { value: string } }) => {
      setTyped(event.target.value)
      onChange(read(event.target.value))
    },
  }
  return isList ? (
    <textarea rows={2} placeholder="One value a line" {...props} />
  ) : (
    <input type="text" {...props} />
  )
}

import type { QueryField } from '../../api/schema.gen.d.ts'
import { Button } from '../../ui/parts.tsx'
import type { Body, SortKey } from './body.ts'
import { FieldSelect, useChoices } from './fields.tsx'
import { placed, withItem } from './placed.ts'
import css from './query.module.css'

/** A change of a query: the value undefined removes a part. */
export type BodyChange = { [Name in keyof Body]?: Body[Name] | undefined }

export type PartProps = { body: Body; change: (change: BodyChange) => void }

/** A yes or no in a line of the builder. */
export function Flag({
  label,
  isOn,
  isShown,
  onChange,
}: {
  label: string
  isOn: boolean
  isShown: boolean
  onChange: (isOn: boolean) => void
}) {
  if (!isShown) return null
  return (
    <label className={css.line}>
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  )
}

/** The order of rows: by fields, or by the columns of measures. */
export function SortPart({
  body: { order_by = [] },
  change,
  allow,
  withKeys = false,
}: PartProps & { allow?: (field: QueryField) => boolean; withKeys?: boolean }) {
  const set = (keys: SortKey[]) => change({ order_by: keys.length === 0 ? undefined : keys })
  const { fields } = useChoices()
  const next = fields.find((each) => allow === undefined || allow(each))?.name
  return (
    <fieldset className={css.part}>
      <legend>Order</legend>
      {placed(order_by).map(({ item, at, key }) => (
        <div key={key} className={css.line}>
          <FieldSelect
            label="Order by"
            value={item.field}
            {...(allow && { allow })}
            withKeys={withKeys}
            onChange={(field) => set(withItem(order_by, at, { ...item, field }))}
          />
          <select
            aria-label={`Direction of ${item.field}`}
            value={item.direction ?? 'desc'}
            onChange={(event) => {
              const direction = event.target.value as 'asc'
              set(withItem(order_by, at, { ...item, direction }))
            }}
          >
            <option value="desc">largest or latest first</option>
            <option value="asc">smallest or earliest first</option>
          </select>
          <Button
            small
            look="plain"
            aria-label={`Remove the order by ${item.field}`}
            onClick={() => set(withItem(order_by, at, undefined))}
          >
            ×
          </Button>
        </div>
      ))}
      <div className={css.line}>
        <Button
          small
          disabled={next === undefined}
          onClick={() =>
            next !== undefined && set([...order_by, { field: next, direction: 'desc' }])
          }
        >
          Add an order
        </Button>
      </div>
    </fieldset>
  )
}

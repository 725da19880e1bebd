import type { Measure } from '../../api/schema.gen.d.ts'
import { useZone } from '../../browser/zone.ts'
import { Button } from '../../ui/parts.tsx'
import type { Body, GroupBy } from './body.ts'
import { Flag, type PartProps } from './builder-parts.tsx'
import { bucketWidths, isOfDays } from './drill.ts'
import { FieldSelect, useChoices } from './fields.tsx'
import { placed, withItem } from './placed.ts'
import css from './query.module.css'

/** The groups of an aggregate: by fields, over time, and only the largest. */
export function GroupsPart({ body, change }: PartProps) {
  const { group_by = [], measures = [], top_n, fill } = body
  const bucket = group_by.find((each) => typeof each !== 'string')
  const names = group_by.filter((each) => typeof each === 'string')
  const set = (groups: GroupBy[]) =>
    change({
      group_by: groups.length === 0 ? undefined : groups,
      ...(groups.every((each) => typeof each === 'string') && { fill: undefined }),
      ...(groups.every((each) => typeof each !== 'string') && { top_n: undefined }),
    })
  const zone = useZone()
  const width = bucket?.time_bucket ?? ''
  const others = group_by.filter((each) => each !== bucket)
  const setBucket = (width: string, time_zone = bucket?.time_zone) => {
    if (width === '') return set(names)
    const zoned = time_zone !== undefined && isOfDays(width) && { time_zone }
    return set([...others, { time_bucket: width, ...zoned }])
  }
  const { fields } = useChoices()
  const free = fields.find(({ name, groupable }) => groupable && !names.includes(name))?.name
  const top = { n: 5, by: measures[0]?.as ?? '', other: true }
  return (
    <fieldset className={css.part}>
      <legend>By</legend>
      {placed(group_by).map(({ item, at, key }) =>
        typeof item !== 'string' ? null : (
          <div key={key} className={css.line}>
            <FieldSelect
              label="Group by"
              value={item}
              allow={({ groupable }) => groupable}
              withKeys
              onChange={(name) => set(withItem<GroupBy>(group_by, at, name))}
            />
            <Button
              small
              look="plain"
              aria-label={`Remove the group ${item}`}
              onClick={() => set(withItem(group_by, at, undefined))}
            >
              ×
            </Button>
          </div>
        ),
      )}
      <div className={css.line}>
        <Button
          small
          disabled={free === undefined}
          onClick={() => free !== undefined && set([...group_by, free])}
        >
          Add a group
        </Button>
        over time
        <BucketSelect width={width} onChange={(each) => setBucket(each)} />
        <Flag
          label={`days of ${bucket?.time_zone ?? zone}`}
          isOn={bucket?.time_zone !== undefined}
          isShown={isOfDays(width)}
          onChange={(isOn) =>
            isOn ? setBucket(width, zone) : set([...others, { time_bucket: width }])
          }
        />
        <Flag
          label="with empty buckets"
          isOn={fill === true}
          isShown={bucket !== undefined}
          onChange={(isOn) =>
            change({
              fill: isOn || undefined,
              ...(isOn && { having: undefined, order_by: undefined }),
            })
          }
        />
        <Flag
          label="only the largest groups"
          isOn={top_n !== undefined}
          isShown={names.length > 0}
          onChange={(isOn) => change({ top_n: isOn ? top : undefined, having: undefined })}
        />
        {top_n !== undefined && <TopInputs top={top_n} measures={measures} change={change} />}
      </div>
    </fieldset>
  )
}

function BucketSelect({ width, onChange }: { width: string; onChange: (width: string) => void }) {
  const widths = [...new Set([...bucketWidths, ...(width === '' ? [] : [width])])]
  return (
    <select
      aria-label="Width of the buckets of time"
      value={width}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">no buckets</option>
      {widths.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  )
}

function TopInputs({
  top,
  measures,
  change,
}: {
  top: NonNullable<Body['top_n']>
  measures: readonly Measure[]
  change: PartProps['change']
}) {
  return (
    <>
      <input
        type="number"
        className={css.short}
        aria-label="Number of groups"
        min={1}
        max={100}
        value={top.n}
        onChange={(event) => change({ top_n: { ...top, n: Number(event.target.value) } })}
      />
      by
      <select
        aria-label="Measure that ranks the groups"
        value={top.by}
        onChange={(event) => change({ top_n: { ...top, by: event.target.value } })}
      >
        {[...new Set([...measures.map(({ as }) => as), top.by])].map((as) => (
          <option key={as} value={as}>
            {as}
          </option>
        ))}
      </select>
      <Flag
        label="and all others as one"
        isOn={top.other !== false}
        isShown
        onChange={(other) => change({ top_n: { ...top, other } })}
      />
    </>
  )
}

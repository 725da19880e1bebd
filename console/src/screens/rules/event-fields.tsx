import type { Severity } from '../../api/schema.gen.d.ts'
import { CheckField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { findingKinds } from '../shared/finding-kinds.ts'
import { severities } from '../shared/severities.ts'
import { ListField, NumberField } from './list-field.tsx'
import type { FieldsProps } from './rule-draft.ts'
import css from './rules.module.css'

const sources = [
  ['finding', 'Findings of tasks'],
  ['verification', 'Verifications'],
  ['ledger', 'Entries of the completeness ledger'],
] as const

type Event = NonNullable<FieldsProps['draft']['event']>
type Match = Event['match']

/** The fields of an event rule: which records match, and how many open an incident. */
export function EventFields({ draft, faults, onChange }: FieldsProps) {
  const event: Event = draft.event ?? { match: { source: 'finding' }, count: 1 }
  const { match } = event
  const put = (change: object) =>
    onChange({ ...draft, event: without({ ...event, ...change }) as Event })
  const putMatch = (change: object) => put({ match: without({ ...match, ...change }) as Match })
  const isFinding = match.source === 'finding'
  return (
    <>
      <SelectField
        label="Records"
        options={sources}
        value={match.source}
        onChange={({ target }) => put({ match: { source: target.value } })}
      />
      {isFinding && (
        <fieldset className={css.pair} style={{ border: 0, padding: 0, margin: 0 }}>
          <legend>Kinds (none: all)</legend>
          {findingKinds.map((kind) => (
            <CheckField
              key={kind}
              label={kind}
              checked={match.kinds?.includes(kind) ?? false}
              onChange={({ target }) =>
                putMatch({
                  kinds: findingKinds.filter((each) =>
                    each === kind ? target.checked : match.kinds?.includes(each),
                  ),
                })
              }
            />
          ))}
        </fieldset>
      )}
      <ListField
        label="Types"
        placeholder="all"
        value={match.types ?? []}
        onChange={(types) => putMatch({ types })}
        hint={isFinding ? 'Such as repeat_call' : 'Such as lost'}
        fault={faultAt(faults, '/event/match/types')}
      />
      {isFinding && (
        <div className={css.pair}>
          <SelectField
            label="Severity at least"
            options={[['', 'any'], ...severities.map((each) => [each, each] as const)]}
            value={match.min_severity ?? ''}
            onChange={({ target }) => putMatch({ min_severity: target.value as Severity })}
          />
          <NumberField
            label="Confidence at least"
            value={match.min_confidence}
            onChange={(min_confidence) => putMatch({ min_confidence })}
            hint="0–1"
            fault={faultAt(faults, '/event/match/min_confidence')}
          />
        </div>
      )}
      <div className={css.pair}>
        <NumberField
          label="Matches that open an incident"
          value={event.count ?? 1}
          onChange={(count) => put({ count })}
          fault={faultAt(faults, '/event/count')}
        />
        <TextField
          label="Within"
          placeholder="only for more than one"
          value={event.within ?? ''}
          onChange={({ target }) => put({ within: target.value })}
          fault={faultAt(faults, '/event/within')}
        />
      </div>
    </>
  )
}

/** Leaves out what is empty. */
function without(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  )
}

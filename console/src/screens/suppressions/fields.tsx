import type { Fault } from '../../api/problem.ts'
import { AreaField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import {
  type Draft,
  explainTwice,
  fieldNames,
  type MatcherDraft,
  numbered,
  operators,
  type WindowDraft,
} from './draft.ts'
import css from './suppressions.module.css'

type FieldsProps = {
  draft: Draft
  faults: readonly Fault[] | undefined
  zone: string
  isLocked: boolean
  onChange: (draft: Draft) => void
}

/** The fields of a suppression: what, when, why. */
export function SuppressionFields(props: FieldsProps) {
  const { draft, faults, isLocked, onChange } = props
  return (
    <fieldset className={css.fields} disabled={isLocked}>
      <Matchers {...props} />
      <Times {...props} />
      <AreaField
        label="Why"
        rows={2}
        required
        maxLength={1_000}
        value={draft.comment}
        onChange={(event) => onChange({ ...draft, comment: event.target.value })}
        fault={faultAt(faults, '/comment')}
      />
    </fieldset>
  )
}

function Matchers({ draft, faults, onChange }: FieldsProps) {
  const { matchers } = draft
  const put = (at: number, change: Partial<MatcherDraft>) =>
    onChange({
      ...draft,
      matchers: matchers.map((each, index) => (index === at ? { ...each, ...change } : each)),
    })
  return (
    <fieldset className={css.fields}>
      <legend>Incidents for which all of this holds</legend>
      <datalist id="suppression-fields">
        {fieldNames.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {numbered(matchers).map(({ at, field, op, value }) => (
        <div key={at} className={css.matcher}>
          <TextField
            label="Field"
            list="suppression-fields"
            required
            value={field}
            onChange={(event) => put(at, { field: event.target.value })}
            fault={faultAt(faults, `/matchers/${at}/field`)}
          />
          <SelectField
            label="Comparison"
            options={operators}
            value={op}
            onChange={(event) => put(at, { op: event.target.value as MatcherDraft['op'] })}
          />
          <TextField
            label={op === 'in' || op === 'not_in' ? 'Values, with commas' : 'Value'}
            value={value}
            onChange={(event) => put(at, { value: event.target.value })}
            fault={
              faultAt(faults, `/matchers/${at}/value`) ??
              faults?.find(({ pointer }) => pointer === `/matchers/${at}`)?.detail
            }
          />
          <Button
            disabled={matchers.length === 1}
            aria-label={`Remove condition ${at + 1}`}
            onClick={() =>
              onChange({ ...draft, matchers: matchers.filter((_, index) => index !== at) })
            }
          >
            ×
          </Button>
        </div>
      ))}
      <span>
        <Button
          small
          disabled={matchers.length >= 20}
          onClick={() =>
            onChange({
              ...draft,
              matchers: [...matchers, { field: 'severity', op: 'lte', value: 'high' }],
            })
          }
        >
          Add a condition
        </Button>
      </span>
    </fieldset>
  )
}

const whens = [
  ['until', 'From now until an end'],
  ['windows', 'In windows'],
  ['again', 'Again and again'],
] as const

function Times(props: FieldsProps) {
  const { draft, faults, zone, onChange } = props
  const { when } = draft
  return (
    <fieldset className={css.fields}>
      <legend>When</legend>
      <div className={css.three}>
        <SelectField
          label="Times"
          options={whens}
          value={when}
          onChange={(event) => onChange({ ...draft, when: event.target.value as Draft['when'] })}
        />
        <TextField
          label={when === 'until' ? 'End' : 'Ends for good (optional)'}
          type="datetime-local"
          required={when === 'until'}
          value={draft.expires_at}
          onChange={(event) => onChange({ ...draft, expires_at: event.target.value })}
          hint={explainTwice(draft.expires_at, zone, draft) ?? zone}
          fault={faultAt(faults, '/expires_at')}
        />
      </div>
      {when === 'again' && <Recurrence {...props} />}
      {when !== 'until' && <Windows {...props} />}
    </fieldset>
  )
}

function Recurrence({ draft, faults, onChange }: FieldsProps) {
  const put = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  return (
    <div className={css.three}>
      <TextField
        label="Starts, as cron"
        required
        value={draft.cron}
        onChange={(event) => put({ cron: event.target.value })}
        hint="0 2 * * 0: Sundays at 2:00"
        fault={faultAt(faults, '/recurrence/cron') ?? faultAt(faults, '/recurrence')}
      />
      <TextField
        label="Length"
        required
        value={draft.duration}
        onChange={(event) => put({ duration: event.target.value })}
        hint="Such as 90m or 2h"
        fault={faultAt(faults, '/recurrence/duration')}
      />
      <TextField
        label="Time zone"
        required
        value={draft.time_zone}
        onChange={(event) => put({ time_zone: event.target.value })}
        fault={faultAt(faults, '/recurrence/time_zone')}
      />
    </div>
  )
}

function Windows({ draft, faults, zone, onChange }: FieldsProps) {
  const { windows } = draft
  const put = (at: number, change: Partial<WindowDraft>) =>
    onChange({
      ...draft,
      windows: windows.map((each, index) => (index === at ? { ...each, ...change } : each)),
    })
  return (
    <>
      {numbered(windows).map(({ at, from, to }) => (
        <div key={at} className={css.window}>
          <TextField
            label={`From (${zone})`}
            type="datetime-local"
            required
            value={from}
            onChange={(event) => put(at, { from: event.target.value })}
            hint={explainTwice(from, zone, draft)}
            fault={faultAt(faults, `/windows/${at}/from`)}
          />
          <TextField
            label="To"
            type="datetime-local"
            required
            value={to}
            onChange={(event) => put(at, { to: event.target.value })}
            hint={explainTwice(to, zone, draft)}
            fault={faultAt(faults, `/windows/${at}`)}
          />
          <Button
            aria-label={`Remove window ${at + 1}`}
            onClick={() =>
              onChange({ ...draft, windows: windows.filter((_, index) => index !== at) })
            }
          >
            ×
          </Button>
        </div>
      ))}
      <div className={ui.row}>
        <Button
          small
          disabled={windows.length >= 50}
          onClick={() => onChange({ ...draft, windows: [...windows, { from: '', to: '' }] })}
        >
          Add a window
        </Button>
      </div>
    </>
  )
}

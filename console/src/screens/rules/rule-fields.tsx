import { api } from '../../api/client.ts'
import type { IncidentRuleMode, NoDataOutcome, Severity } from '../../api/schema.gen.d.ts'
import { AreaField, CheckField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { parsePairs } from '../shared/pairs.ts'
import { severities } from '../shared/severities.ts'
import { ConditionFields } from './condition-fields.tsx'
import { ListField, PairsField } from './list-field.tsx'
import type { FieldsProps, RuleDraft } from './rule-draft.ts'
import css from './rules.module.css'

/** The fields of a rule. What is rare, such as inhibition, is in the YAML. */
export function RuleFields(props: FieldsProps) {
  const { draft, faults, isLocked, onChange } = props
  const put = (change: Partial<RuleDraft>) => onChange(withChange(draft, change))
  return (
    <fieldset className={css.fields} disabled={isLocked} aria-label="Fields of the rule">
      <div className={css.pair}>
        <TextField
          label="Name"
          required
          value={draft.name}
          onChange={(event) => put({ name: event.target.value })}
          fault={faultAt(faults, '/name')}
        />
        <SelectField
          label="Severity"
          options={severities.map((each) => [each, each])}
          value={draft.severity}
          onChange={(event) => put({ severity: event.target.value as Severity })}
        />
      </div>
      <AreaField
        label="Description (optional)"
        rows={2}
        maxLength={1_000}
        value={draft.description ?? ''}
        onChange={(event) => put({ description: event.target.value })}
        fault={faultAt(faults, '/description')}
      />
      <ConditionFields {...props} />
      <Rows {...props} put={put} />
      <Messages {...props} put={put} />
      <Rare {...props} put={put} />
    </fieldset>
  )
}

type PutProps = FieldsProps & { put: (change: Partial<RuleDraft>) => void }

/** Returns a draft with changed fields. Empty texts and lists are left out. */
function withChange(draft: RuleDraft, change: Partial<RuleDraft>): RuleDraft {
  const entries = Object.entries({ ...draft, ...change }).filter(([field, value]) => {
    if (field === 'name' || field === 'severity') return true
    return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
  })
  return Object.fromEntries(entries) as RuleDraft
}

const dimensions = ['model', 'provider', 'environment', 'task_name', 'release', 'tag'] as const

/** Which rows the rule reads, and how it groups them. */
function Rows({ draft, faults, put }: PutProps) {
  const chosen = draft.group_by ?? []
  const selector = draft.selector ?? {}
  return (
    <fieldset className={css.group}>
      <legend>Rows</legend>
      <fieldset className={css.pair} style={{ border: 0, padding: 0, margin: 0 }}>
        <legend>One incident for each (at most three)</legend>
        {dimensions.map((dimension) => (
          <CheckField
            key={dimension}
            label={dimension.replace('_', ' ')}
            checked={chosen.includes(dimension)}
            disabled={chosen.length >= 3 && !chosen.includes(dimension)}
            onChange={(event) =>
              put({
                group_by: event.target.checked
                  ? [...chosen, dimension]
                  : chosen.filter((each) => each !== dimension),
              })
            }
          />
        ))}
      </fieldset>
      <div className={css.pair}>
        {dimensions.map((dimension) => (
          <ListField
            key={dimension}
            label={`Only ${dimension.replace('_', ' ')}`}
            placeholder="all"
            value={selector[dimension] ?? []}
            onChange={(globs) => {
              const { [dimension]: _, ...rest } = selector
              put({ selector: globs.length === 0 ? rest : { ...rest, [dimension]: globs } })
            }}
            fault={faultAt(faults, `/selector/${dimension}`)}
          />
        ))}
      </div>
    </fieldset>
  )
}

/** Who hears of it. */
function Messages({ draft, faults, put }: PutProps) {
  const channels = api.useQuery('get', '/api/v2/observability/incidents/channels', {
    params: { query: { limit: 100 } },
  })
  const names = (channels.data?.channels ?? []).map(({ name }) => name)
  return (
    <fieldset className={css.group}>
      <legend>Messages</legend>
      <ListField
        label="Channels"
        value={draft.notify ?? []}
        onChange={(notify) => put({ notify })}
        hint={
          names.length > 0
            ? `Known: ${names.join(', ')}. Empty: the default route.`
            : 'Empty: the default route of the project.'
        }
        fault={faultAt(faults, '/notify')}
      />
      <div className={css.pair}>
        <TextField
          label="Assign to (optional)"
          value={draft.assign_to ?? ''}
          onChange={(event) => put({ assign_to: event.target.value })}
          hint="E-mail of a member"
          fault={faultAt(faults, '/assign_to')}
        />
        <TextField
          label="Runbook (optional)"
          type="url"
          value={draft.runbook_url ?? ''}
          onChange={(event) => put({ runbook_url: event.target.value })}
          fault={faultAt(faults, '/runbook_url')}
        />
      </div>
      <div className={css.pair}>
        <SelectField
          label="Mode"
          options={[
            ['live', 'Live'],
            ['shadow', 'Shadow: no messages'],
          ]}
          value={draft.mode ?? 'live'}
          onChange={(event) => put({ mode: event.target.value as IncidentRuleMode })}
        />
        <CheckField
          label="Suspended: not evaluated"
          checked={draft.suspend ?? false}
          onChange={(event) => put({ suspend: event.target.checked })}
        />
      </div>
    </fieldset>
  )
}

const times = [
  ['interval', 'Evaluated every', '1m'],
  ['delay', 'Waits for late rows', '1m'],
  ['keep_firing_for', 'Keeps firing for', '0s'],
  ['reopen_within', 'Reopens within', '15m'],
  ['ack_timeout', 'Acknowledgement ends after', 'never'],
] as const

/** Fields that most rules leave at their default. */
function Rare({ draft, faults, put }: PutProps) {
  return (
    <details className={css.more}>
      <summary>Times, labels and more</summary>
      <div className={css.fields}>
        <div className={css.pair}>
          {times.map(([field, label, usual]) => (
            <TextField
              key={field}
              label={label}
              placeholder={usual}
              value={draft[field] ?? ''}
              onChange={(event) => put({ [field]: event.target.value })}
              fault={faultAt(faults, `/${field}`)}
            />
          ))}
          <SelectField
            label="Without data"
            options={[
              ['', 'default'],
              ['ok', 'does not fire'],
              ['alerting', 'fires'],
              ['keep', 'stays as it is'],
            ]}
            value={draft.no_data ?? ''}
            onChange={(event) =>
              put({ no_data: (event.target.value || undefined) as NoDataOutcome })
            }
          />
        </div>
        <PairsField
          label="Labels"
          value={draft.labels ?? {}}
          onChange={(text) => put({ labels: parsePairs(text) })}
          hint="team=payments, tier=1"
          fault={faultAt(faults, '/labels')}
        />
        <TextField
          label="Key of incidents (optional)"
          placeholder="rule and group"
          value={draft.dedup_key ?? ''}
          onChange={(event) => put({ dedup_key: event.target.value })}
          hint="Incidents with an equal key are one, such as {{group.model}}."
          fault={faultAt(faults, '/dedup_key')}
        />
        <CheckField
          label="Resolves by itself when it no longer fires"
          checked={draft.auto_resolve ?? true}
          onChange={(event) => put({ auto_resolve: event.target.checked })}
        />
        <p>Escalation, grouping, inhibition and annotations are fields of the YAML.</p>
      </div>
    </details>
  )
}

import { api } from '../../api/client.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { Choice } from '../../ui/fields.tsx'
import { Severity } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import { severities } from '../shared/severities.ts'
import { stateChoices } from './inbox-query.ts'
import css from './incidents.module.css'

/** The filters of the inbox: severities with their counts, state, owner, rule and words. */
export function InboxFilters() {
  const [search, change] = useUrlState()
  const rules = api.useQuery('get', '/api/v1/alerts/rules', { params: { query: { limit: 200 } } })
  const names = (rules.data?.rules ?? []).map(({ name }) => name)
  const rule = search['rule'] ?? ''
  return (
    <>
      <BySeverity />
      <search className={ui.row}>
        <Choice
          label="State"
          value={search['state'] ?? 'unresolved'}
          choices={stateChoices}
          onChoose={(value) => change({ state: value === 'unresolved' ? undefined : value })}
        />
        <Choice
          label="Owner"
          value={search['owner'] ?? ''}
          choices={[
            ['', 'Everybody’s'],
            ['mine', 'Mine'],
            ['none', 'Nobody’s'],
          ]}
          onChoose={(owner) => change({ owner })}
        />
        <Choice
          label="Rule"
          value={rule}
          choices={[
            ['', 'All rules'],
            ...[...new Set(rule === '' ? names : [rule, ...names])].map(
              (each) => [each, each] as const,
            ),
          ]}
          onChoose={(value) => change({ rule: value })}
        />
        <Choice
          label="Muting"
          value={search['muted'] ?? ''}
          choices={[
            ['', 'Muted or not'],
            ['no', 'Not muted'],
            ['yes', 'Muted'],
          ]}
          onChoose={(muted) => change({ muted })}
        />
        <input
          type="search"
          data-filter
          aria-label="Words of the title"
          placeholder="Words of the title"
          maxLength={256}
          value={search['q'] ?? ''}
          onChange={(event) => change({ q: event.target.value })}
        />
        <label className={ui.row}>
          <input
            type="checkbox"
            checked={search['shadow'] === 'yes'}
            onChange={(event) => change({ shadow: event.target.checked ? 'yes' : undefined })}
          />
          Shadow rules too
        </label>
      </search>
    </>
  )
}

/** Open incidents by severity. A click shows those of at least that severity. */
function BySeverity() {
  const [search, change] = useUrlState()
  const { data } = api.useQuery('get', '/api/v1/alerts/summary', {})
  const chosen = search['severity']
  return (
    <fieldset className={css.tiles} style={{ border: 0, padding: 0, margin: 0 }}>
      <legend className={ui.visuallyHidden}>Lowest severity</legend>
      {severities.map((severity) => (
        <button
          key={severity}
          type="button"
          className={css.tile}
          aria-pressed={chosen === severity}
          title={`Show incidents of severity ${severity} or worse`}
          onClick={() => change({ severity: chosen === severity ? undefined : severity })}
        >
          <Severity of={severity} />
          <strong>{data?.by_severity[severity] ?? '–'}</strong>
        </button>
      ))}
    </fieldset>
  )
}

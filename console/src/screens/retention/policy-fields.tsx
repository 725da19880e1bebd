import type { Fault } from '../../api/problem.ts'
import { CheckField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import table from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'
import { type Draft, ever, type Kept, kept, textsOf } from './draft.ts'
import css from './retention.module.css'

type Edit = {
  draft: Draft
  onChange: (draft: Draft) => void
  faults: readonly Fault[]
  isLocked: boolean
}

const titles: Record<Kept, string> = {
  content: 'Content',
  observations: 'Observations',
  events: 'Events and links',
  traces: 'Traces, tasks, conversations',
}

/** The fields of a policy: days for each kind of data and environment, and archives. */
export function PolicyFields(edit: Edit) {
  const { draft, onChange, isLocked } = edit
  return (
    <>
      <div className={table.scroller}>
        <table className={table.table} aria-label="Days to keep">
          <thead>
            <tr>
              <th scope="col">Days to keep</th>
              {kept.map((name) => (
                <th key={name} scope="col">
                  {titles[name]}
                </th>
              ))}
              <th scope="col">
                <span className={ui.visuallyHidden}>Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td className={css.row}>Everything</td>
              {kept.map((name) => (
                <td key={name}>
                  <Days
                    label={`${titles[name]}, everything`}
                    placeholder={name === 'content' || name === 'events' ? 'as observations' : ever}
                    value={draft.days[name]}
                    pointer={`/days/${name}`}
                    edit={edit}
                    onChange={(text) =>
                      onChange({ ...draft, days: { ...draft.days, [name]: text } })
                    }
                  />
                </td>
              ))}
              <td />
            </tr>
            {draft.environments.map((each, at) => (
              <EnvironmentRow key={each.key} at={at} edit={edit} />
            ))}
          </tbody>
        </table>
      </div>
      <div className={ui.row}>
        <Button small disabled={isLocked} onClick={() => onChange(withEnvironment(draft))}>
          Add an environment
        </Button>
        <span className={ui.soft}>
          An empty field of an environment takes the value above it. Write “{ever}” to keep longer.
        </span>
      </div>
      <ArchiveFields {...edit} />
    </>
  )
}

function withEnvironment(draft: Draft): Draft {
  const key = draft.environments.reduce((most, each) => Math.max(most, each.key), -1) + 1
  const added = { key, environment: '', days: textsOf(() => '') }
  return { ...draft, environments: [...draft.environments, added] }
}

function EnvironmentRow({ at, edit }: { at: number; edit: Edit }) {
  const { draft, onChange, isLocked, faults } = edit
  const own = draft.environments[at]
  if (own === undefined) return null
  const replace = (change: Partial<typeof own>) =>
    onChange({
      ...draft,
      environments: draft.environments.map((each) => (each === own ? { ...own, ...change } : each)),
    })
  const title = own.environment || `environment ${at + 1}`
  const fault = faults.find(({ pointer }) => pointer === `/environments/${at}/environment`)
  return (
    <tr>
      <td>
        <input
          aria-label={`Name of environment ${at + 1}`}
          className={css.name}
          value={own.environment}
          placeholder="production"
          disabled={isLocked}
          aria-invalid={fault !== undefined}
          onChange={(event) => replace({ environment: event.target.value })}
        />
        {fault !== undefined && <p className={ui.fault}>{fault.detail}</p>}
      </td>
      {kept.map((name) => (
        <td key={name}>
          <Days
            label={`${titles[name]}, ${title}`}
            placeholder={draft.days[name] || 'as above'}
            value={own.days[name]}
            pointer={`/environments/${at}/days/${name}`}
            edit={edit}
            onChange={(text) => replace({ days: { ...own.days, [name]: text } })}
          />
        </td>
      ))}
      <td>
        <Button
          small
          look="plain"
          disabled={isLocked}
          aria-label={`Remove ${title}`}
          onClick={() =>
            onChange({
              ...draft,
              environments: draft.environments.filter((each) => each !== own),
            })
          }
        >
          Remove
        </Button>
      </td>
    </tr>
  )
}

function Days({
  label,
  placeholder,
  value,
  pointer,
  edit,
  onChange,
}: {
  label: string
  placeholder: string
  value: string
  pointer: string
  edit: Edit
  onChange: (text: string) => void
}) {
  const fault = edit.faults.find((each) => each.pointer === pointer)
  return (
    <>
      <input
        aria-label={label}
        className={css.days}
        value={value}
        placeholder={placeholder}
        disabled={edit.isLocked}
        aria-invalid={fault !== undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {fault !== undefined && <p className={ui.fault}>{fault.detail}</p>}
    </>
  )
}

function ArchiveFields({ draft, onChange, faults, isLocked }: Edit) {
  const { archive } = draft
  const faultOf = (pointer: string) => faults.find((each) => each.pointer === pointer)?.detail
  return (
    <fieldset className={css.archive} disabled={isLocked}>
      <legend>Archive</legend>
      <CheckField
        label="Delete a day only when a verified archive has all of it"
        checked={draft.archiveBeforeDelete}
        onChange={(event) => onChange({ ...draft, archiveBeforeDelete: event.target.checked })}
      />
      <CheckField
        label="Archive on a schedule"
        checked={archive?.enabled === true}
        onChange={(event) => {
          const before = archive ?? { after_days: '7', schedule: '0 4 * * *' }
          const next = { ...before, enabled: event.target.checked }
          onChange({ ...draft, archive: next })
        }}
      />
      {archive?.enabled === true && (
        <div className={ui.row}>
          <TextField
            label="Age of a day in days"
            inputMode="numeric"
            value={archive.after_days}
            fault={faultOf('/archive/after_days')}
            onChange={(event) =>
              onChange({ ...draft, archive: { ...archive, after_days: event.target.value } })
            }
          />
          <TextField
            label="Schedule (cron, UTC)"
            value={archive.schedule}
            fault={faultOf('/archive/schedule')}
            onChange={(event) =>
              onChange({ ...draft, archive: { ...archive, schedule: event.target.value } })
            }
          />
        </div>
      )}
    </fieldset>
  )
}

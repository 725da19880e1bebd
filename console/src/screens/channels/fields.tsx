import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { Fault } from '../../api/problem.ts'
import type { ChannelType } from '../../api/schema.gen.d.ts'
import { AreaField, CheckField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault as FaultBox } from '../../ui/states.tsx'
import { LongText } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { channelTypes, type Draft, requestOf, secretFields } from './draft.ts'

type FieldsProps = {
  draft: Draft
  faults: readonly Fault[] | undefined
  isNew: boolean
  isLocked: boolean
  onChange: (draft: Draft) => void
}

/** The fields of a channel: those of its type, and what all types have. */
export function ChannelFields(props: FieldsProps) {
  const { draft, faults, isNew, isLocked, onChange } = props
  const put = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  return (
    <fieldset className={ui.stack} disabled={isLocked} style={{ border: 0, margin: 0, padding: 0 }}>
      <TextField
        label="Name"
        required
        value={draft.name}
        onChange={(event) => put({ name: event.target.value })}
        hint="Rules name the channel by it: small letters, digits and hyphens."
        fault={faultAt(faults, '/name')}
      />
      <SelectField
        label="Type"
        options={channelTypes}
        value={draft.type}
        disabled={!isNew}
        onChange={(event) => put({ type: event.target.value as ChannelType })}
      />
      <Section {...props} />
      <TextField
        label="Fallback (optional)"
        value={draft.fallback}
        onChange={(event) => put({ fallback: event.target.value })}
        hint="Name of the channel that receives a message that cannot be delivered here."
        fault={faultAt(faults, '/fallback')}
      />
      <Templates {...props} />
      <CheckField
        label="Disabled: no messages are sent"
        checked={draft.disabled}
        onChange={(event) => put({ disabled: event.target.checked })}
      />
    </fieldset>
  )
}

const urlHints: Readonly<Record<ChannelType, string>> = {
  webhook: 'Requests are signed as Standard Webhooks.',
  slack: '',
  pagerduty: 'Optional. In the EU: https://events.eu.pagerduty.com/v2/enqueue',
  alertmanager: 'Such as http://alertmanager.monitoring.svc:9093',
  email: '',
}

function Section({ draft, faults, isNew, onChange }: FieldsProps) {
  const { type } = draft
  const put = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  const hasUrl = type === 'webhook' || type === 'pagerduty' || type === 'alertmanager'
  const kept = isNew || type !== 'webhook' ? '' : ' Empty: the stored URL is kept.'
  return (
    <>
      {hasUrl && (
        <TextField
          label="URL"
          type="url"
          required={isNew && type !== 'pagerduty'}
          value={draft.url}
          onChange={(event) => put({ url: event.target.value })}
          hint={urlHints[type] + kept}
          fault={faultAt(faults, `/${type}/url`)}
        />
      )}
      {type === 'slack' && (
        <TextField
          label="Slack channel"
          value={draft.channel}
          onChange={(event) => put({ channel: event.target.value })}
          hint="With a bot: #agents. Empty for an incoming webhook."
          fault={faultAt(faults, '/slack/channel')}
        />
      )}
      {type === 'email' && (
        <AreaField
          label="Addresses"
          rows={2}
          required
          value={draft.to}
          onChange={(event) => put({ to: event.target.value })}
          fault={faultAt(faults, '/email')}
        />
      )}
      {secretFields[type].map(([field, label, hint]) => (
        <TextField
          key={field}
          label={label}
          type="password"
          autoComplete="off"
          value={draft.secrets[field] ?? ''}
          onChange={(event) => put({ secrets: { ...draft.secrets, [field]: event.target.value } })}
          hint={isNew ? hint : `${hint} Empty: the stored one is kept.`}
          fault={faultAt(faults, `/${type}/${field}`)}
        />
      ))}
      {(type === 'slack' || type === 'email') && (
        <CheckField
          label="Messages have links that acknowledge, resolve and silence"
          checked={draft.answerLinks}
          onChange={(event) => put({ answerLinks: event.target.checked })}
        />
      )}
    </>
  )
}

/** The texts of messages, and how they would read. */
function Templates({ draft, faults, onChange }: FieldsProps) {
  const put = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  const preview = useMutation({
    mutationFn: async () => {
      const { templates = {} } = requestOf(draft)
      const { data } = await call.POST('/api/v2/observability/incidents/channels/preview', {
        body: { type: draft.type, templates, reason: 'opened' },
      })
      return data
    },
  })
  return (
    <details>
      <summary>Texts of messages</summary>
      <div className={ui.stack}>
        <TextField
          label="Title (optional)"
          value={draft.title}
          onChange={(event) => put({ title: event.target.value })}
          hint="Such as {{severity}}: {{title}} ({{group.model}})"
          fault={faultAt(faults, '/templates/title')}
        />
        <AreaField
          label="Text (optional)"
          rows={5}
          value={draft.body}
          onChange={(event) => put({ body: event.target.value })}
          fault={faultAt(faults, '/templates/body')}
        />
        <span>
          <Button small disabled={preview.isPending} onClick={() => preview.mutate()}>
            Show how it reads
          </Button>
        </span>
        {preview.error !== null && <FaultBox error={preview.error} />}
        {preview.data !== undefined && (
          <div className={ui.box} role="status">
            <strong>
              <LongText text={preview.data.title} />
            </strong>
            <LongText text={preview.data.body} />
          </div>
        )}
      </div>
    </details>
  )
}

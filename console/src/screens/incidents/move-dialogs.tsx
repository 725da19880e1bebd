import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Incident } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { useSession } from '../../session/session.ts'
import { Changed } from '../../ui/changed.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import { useMembers } from '../shared/people.ts'
import { matchersLike, writeMatchers } from '../suppressions/draft.ts'
import { type Move, useMoveIncident } from './move-incident.ts'

/** Moves that ask for something before they are made. */
export type Asked = 'ack' | 'resolve' | 'reopen' | 'silence' | 'assign'

/** The parts of an incident that dialogs need; details and rows of lists have them. */
type Subject = Pick<
  Incident,
  'incident_id' | 'number' | 'version' | 'rule' | 'group' | 'assignee' | 'snoozed_until'
>

type DialogProps = { incident: Subject; onClose: () => void }

/** The dialog of a move. Its text is kept when the move fails. */
export function MoveDialog({ asked, ...rest }: DialogProps & { asked: Asked | undefined }) {
  switch (asked) {
    case 'silence':
      return <Silence {...rest} />
    case 'assign':
      return <Assign {...rest} />
    case undefined:
      return null
    default:
      return <WithNote {...rest} type={asked} />
  }
}

const titles = {
  ack: ['Acknowledge', 'Reminders and the escalation stop. The incident stays unresolved.'],
  resolve: [
    'Resolve',
    'If the condition is still true, the group stays quiet until it was false once.',
  ],
  reopen: [
    'Reopen',
    'The incident is announced again, and its escalation starts from the first step.',
  ],
} as const

function WithNote({
  incident,
  type,
  onClose,
}: DialogProps & { type: 'ack' | 'resolve' | 'reopen' }) {
  const [note, setNote] = useState('')
  const [title, hint] = titles[type]
  return (
    <Ask
      {...{ incident, onClose, title: `${title} #${incident.number}`, action: title }}
      move={{ type, ...(note !== '' && { note }) }}
    >
      <Note label={type === 'resolve' ? 'Reason' : 'Note'} {...{ note, setNote, hint }} />
    </Ask>
  )
}

const lengths = [
  ['30m', '30 minutes'],
  ['2h', '2 hours'],
  ['8h', '8 hours'],
  ['1d', '1 day'],
  ['3d', '3 days'],
  ['7d', '7 days'],
] as const

function Silence({ incident, onClose }: DialogProps) {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const [length, setLength] = useState('2h')
  const [note, setNote] = useState('')
  const matchers = writeMatchers(matchersLike(incident))
  return (
    <Ask
      {...{
        incident,
        onClose,
        title: `Silence #${incident.number}`,
        action: 'Snooze this incident',
      }}
      move={{ type: 'snooze', for: length, ...(note !== '' && { note }) }}
    >
      <SelectField
        label="Snooze for"
        options={lengths}
        value={length}
        onChange={(event) => setLength(event.target.value)}
        hint="Then, if it is still open and not acknowledged, it is announced again."
      />
      <Note label="Note" {...{ note, setNote }} />
      <p className={ui.soft}>
        To mute all incidents like this one,{' '}
        {isAdmin ? (
          <Link
            to="/p/$project_id/suppressions"
            params={{ project_id }}
            search={{ edit: 'new', matchers } as never}
          >
            create a suppression
          </Link>
        ) : (
          'ask an admin of the project for a suppression'
        )}
        .
      </p>
    </Ask>
  )
}

function Assign({ incident, onClose }: DialogProps) {
  const { data: session } = useSession()
  const members = useMembers()
  const [assignee, setAssignee] = useState(incident.assignee ?? session?.email ?? '')
  const people = new Map(
    (members.data?.members ?? []).map(({ email, display_name }) => [
      email,
      display_name === '' ? email : `${display_name} (${email})`,
    ]),
  )
  for (const email of [session?.email, incident.assignee ?? undefined]) {
    if (email !== undefined && !people.has(email)) people.set(email, email)
  }
  return (
    <Ask
      {...{ incident, onClose, title: `Assign #${incident.number}`, action: 'Assign' }}
      move={{ type: 'assign', assignee: assignee === '' ? null : assignee }}
    >
      <SelectField
        label="Assignee"
        options={[['', 'Nobody'], ...people]}
        value={assignee}
        onChange={(event) => setAssignee(event.target.value)}
        hint={
          members.data === undefined
            ? 'Administrators of the project can choose other members.'
            : 'A member of the project.'
        }
      />
    </Ask>
  )
}

/** The frame of a question: the fields, the fault of the last attempt, and the buttons. */
function Ask({
  incident,
  title,
  action,
  move,
  onClose,
  children,
}: DialogProps & { title: string; action: string; move: Move; children: ReactNode }) {
  const { mutate, isPending, error, reset } = useMoveIncident(onClose)
  return (
    <Dialog title={title} open onClose={onClose}>
      <form
        className={ui.stack}
        onSubmit={(event) => {
          event.preventDefault()
          mutate({ incident, move })
        }}
      >
        {children}
        {error !== null && <Changed error={error} onReload={reset} />}
        <div className={ui.row}>
          <Button type="submit" look="primary" disabled={isPending}>
            {isPending ? 'Sending…' : action}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

const note_characters_max = 4_000

function Note({
  label,
  note,
  setNote,
  hint,
}: {
  label: string
  note: string
  setNote: (note: string) => void
  hint?: string
}) {
  return (
    <AreaField
      label={`${label} (optional)`}
      rows={3}
      maxLength={note_characters_max}
      value={note}
      onChange={(event) => setNote(event.target.value)}
      {...(hint !== undefined && { hint })}
    />
  )
}

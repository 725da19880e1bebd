import { Menu } from '@base-ui/react/menu'
import { useNavigate } from '@tanstack/react-router'
import { call, fromThisPage } from '../api/client.ts'
import { setTheme, themes, useTheme } from '../browser/theme.ts'
import { browserZone, setZone, useZone } from '../browser/zone.ts'
import { useNoteSession } from '../session/session.ts'
import { Button } from '../ui/parts.tsx'
import { notifyFault } from '../ui/toasts.tsx'
import css from './person-menu.module.css'

/** The menu of the person: zone, theme, sign-out. */
export function PersonMenu({ name }: { name: string }) {
  const [theme, zone] = [useTheme(), useZone()]
  const note = useNoteSession()
  const navigate = useNavigate()
  const signOut = async () => {
    try {
      const { data } = await call.DELETE('/api/v1/auth/session', { params: fromThisPage })
      note(null)
      if (data?.logout_url) window.location.assign(data.logout_url)
      else await navigate({ to: '/sign-in' })
    } catch (error) {
      notifyFault(error)
    }
  }
  const zones = [...new Set([browserZone(), 'UTC', zone])]
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={<Button look="plain" />}>{name}</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={css.positioner} align="end">
          <Menu.Popup className={css.popup}>
            <Choice
              title="Time zone"
              value={zone}
              values={zones}
              onChoose={(value) => setZone(value)}
            />
            <Choice title="Theme" value={theme} values={themes} onChoose={setTheme} />
            <Menu.Separator className={css.line} />
            <Menu.Item className={css.item} onClick={() => void signOut()}>
              Sign out
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

function Choice<T extends string>({
  title,
  value,
  values,
  onChoose,
}: {
  title: string
  value: T
  values: readonly T[]
  onChoose: (value: T) => void
}) {
  return (
    <Menu.Group>
      <Menu.GroupLabel className={css.title}>{title}</Menu.GroupLabel>
      <Menu.RadioGroup value={value} onValueChange={(chosen: T) => onChoose(chosen)}>
        {values.map((each) => (
          <Menu.RadioItem key={each} value={each} className={css.item} closeOnClick={false}>
            <span aria-hidden="true">{each === value ? '✓ ' : '   '}</span>
            {each}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </Menu.Group>
  )
}

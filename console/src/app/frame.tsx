import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { serverNow } from '../api/server-clock.ts'
import { useKeys } from '../browser/keys.ts'
import { absoluteUrl, defaultFrom, ranges } from '../browser/time-range.ts'
import { useUrlState } from '../browser/use-search.ts'
import { useZone } from '../browser/zone.ts'
import { useProjectId, useProjects } from '../session/project.ts'
import { useSession } from '../session/session.ts'
import { describeRange } from '../ui/format.ts'
import { Button } from '../ui/parts.tsx'
import { Fault, Loading } from '../ui/states.tsx'
import { notify } from '../ui/toasts.tsx'
import { rememberProject } from './first-project.tsx'
import css from './frame.module.css'
import { places } from './places.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const KeyHelp = lazy(async () => ({ default: (await import('./key-help.tsx')).KeyHelp }))

const MustSetPassword = lazy(async () => ({
  default: (await import('./set-password.tsx')).MustSetPassword,
}))

/** The frame around each screen of a project. */
export function Frame() {
  const { data: session, error, refetch } = useSession()
  if (error && session === undefined) return <Fault error={error} retry={() => void refetch()} />
  if (session === undefined) return <Loading />
  if (session === null) return <ToSignIn />
  if (session.must_change_password) {
    return (
      <Suspense fallback={<Loading />}>
        <MustSetPassword email={session.email} />
      </Suspense>
    )
  }
  return <SignedIn />
}

/** Opens the sign-in, which leads back to the address of the screen. */
function ToSignIn() {
  const navigate = useNavigate()
  useEffect(() => {
    const { pathname, search } = window.location
    const return_to = `${pathname}${search}`
    void navigate({ to: '/sign-in', search: { return_to } as never, replace: true })
  }, [navigate])
  return <Loading />
}

function SignedIn() {
  const project_id = useProjectId()
  useEffect(() => rememberProject(project_id), [project_id])
  const [opened, setOpened] = useState<'palette' | 'keys' | 'menu'>()
  const navigate = useNavigate()
  const goTo = (path: string) => void navigate({ to: `/p/${project_id}/${path}` as '/' })
  useKeys({
    ...Object.fromEntries(places.map(({ key, path }) => [`g ${key}`, () => goTo(path)])),
    '?': () => setOpened('keys'),
    '/': () => focusFilter() || setOpened('palette'),
  })
  useCommandKey(() => setOpened('palette'))
  return (
    <div className={css.frame}>
      <a className={css.skip} href="#screen">
        Skip to the content
      </a>
      <header className={css.top}>
        <Button
          look="plain"
          className={css.menuButton}
          aria-expanded={opened === 'menu'}
          onClick={() => setOpened(opened === 'menu' ? undefined : 'menu')}
        >
          Menu
        </Button>
        <Link to="/p/$project_id/tasks" params={{ project_id }} className={css.brand}>
          Looptrace
        </Link>
        <ProjectSwitch />
        <span className={css.space} />
        <RangePicker />
        <Button look="plain" onClick={() => setOpened('palette')}>
          Go to… <kbd>Ctrl K</kbd>
        </Button>
        <PersonButton />
      </header>
      <Navigation isOpen={opened === 'menu'} onGo={() => setOpened(undefined)} />
      <main id="screen" className={css.screen} tabIndex={-1} key={project_id}>
        <Outlet />
      </main>
      <Suspense>
        {opened === 'palette' && <Palette onClose={() => setOpened(undefined)} />}
        {opened === 'keys' && <KeyHelp onClose={() => setOpened(undefined)} />}
      </Suspense>
    </div>
  )
}

const PersonMenu = lazy(async () => ({ default: (await import('./person-menu.tsx')).PersonMenu }))

/** The name of the person. Its menu is loaded with the first click. */
function PersonButton() {
  const { data: session } = useSession()
  const [isWanted, setWanted] = useState(false)
  const name = session?.display_name || session?.email || 'Account'
  const button = (
    <Button look="plain" aria-haspopup="menu" onClick={() => setWanted(true)}>
      {name}
    </Button>
  )
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <PersonMenu name={name} />
    </Suspense>
  )
}

/** Puts the focus into the filter of the screen. Returns whether it has one. */
function focusFilter(): boolean {
  const filter = document.querySelector<HTMLInputElement>('[data-filter]')
  filter?.focus()
  return filter !== null
}

/** Calls `open` at Ctrl K or Command K, also while text is typed. */
function useCommandKey(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      open()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  })
}

function Navigation({ isOpen, onGo }: { isOpen: boolean; onGo: () => void }) {
  const project_id = useProjectId()
  const groups = Map.groupBy(places, ({ group }) => group)
  return (
    <nav className={isOpen ? css.navOpen : css.nav} aria-label="Screens">
      {[...groups].map(([group, members]) => (
        <section key={group} aria-label={group}>
          <h2 className={css.group}>{group}</h2>
          {members.map(({ path, title }) => (
            <Link
              key={path}
              to={`/p/${project_id}/${path}` as '/'}
              className={css.item}
              onClick={onGo}
              activeProps={{ className: css.active, 'aria-current': 'page' }}
            >
              {title}
            </Link>
          ))}
        </section>
      ))}
    </nav>
  )
}

function ProjectSwitch() {
  const project_id = useProjectId()
  const { data } = useProjects()
  const navigate = useNavigate()
  const projects = data?.projects ?? []
  return (
    <select
      aria-label="Project"
      className={css.switch}
      value={project_id}
      onChange={(event) => {
        const params = { project_id: event.target.value }
        void navigate({ to: '/p/$project_id/tasks', params })
      }}
    >
      {projects.every(({ id }) => id !== project_id) && (
        <option value={project_id}>{data === undefined ? '…' : project_id}</option>
      )}
      {projects.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** Screens whose rows depend on the range of the URL. */
const ranged = [
  'overview',
  'tasks',
  'conversations',
  'findings',
  'query',
  'incidents',
  'feedback',
  'audit',
]

/** The choice of the range of time, on screens that have one. `y` copies a link. */
function RangePicker() {
  const { pathname } = useLocation()
  const [search, change] = useUrlState()
  const zone = useZone()
  const hasRange = ranged.includes(pathname.split('/')[3] ?? 'overview') && !pathname.split('/')[4]
  useKeys({
    y: () => {
      const { href } = window.location
      void navigator.clipboard
        ?.writeText(hasRange ? absoluteUrl(href, serverNow()) : href)
        .then(() => notify('Link copied'))
    },
  })
  if (!hasRange) return null
  const from = search['from'] ?? defaultFrom
  const { to } = search
  const isKnown = to === undefined && ranges.some(([value]) => value === from)
  return (
    <select
      aria-label="Range of time"
      value={isKnown ? from : 'custom'}
      onChange={(event) => change({ from: event.target.value, to: undefined, cursor: undefined })}
    >
      {!isKnown && (
        <option value="custom">
          {describeRange({ from, ...(to !== undefined && { to }) }, zone, serverNow())}
        </option>
      )}
      {ranges.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  )
}

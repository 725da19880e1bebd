import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import { formatSearch, parseSearch } from '../browser/search.ts'
import { enterProject } from '../session/project.ts'
import { Empty, Fault, Loading } from '../ui/states.tsx'
import { FirstProject } from './first-project.tsx'
import { Frame } from './frame.tsx'
import { SignIn } from './sign-in.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn })

const setPassword = createRoute({
  getParentRoute: () => root,
  path: '/set-password',
  component: lazyRouteComponent(() => import('./set-password.tsx'), 'SetPassword'),
})
const start = createRoute({ getParentRoute: () => root, path: '/', component: FirstProject })

const project = createRoute({
  getParentRoute: () => root,
  path: '/p/$project_id',
  // A link that is only pointed at does not change the project.
  beforeLoad: ({ params, preload }) => {
    if (!preload) enterProject(params.project_id)
  },
  component: Frame,
})

const screen = <const P extends string>(
  path: P,
  component: ReturnType<typeof lazyRouteComponent>,
) => createRoute({ getParentRoute: () => project, path, component })

const screens = [
  screen(
    '/',
    lazyRouteComponent(() => import('../screens/overview/overview.tsx'), 'Overview'),
  ),
  screen(
    '/overview',
    lazyRouteComponent(() => import('../screens/overview/overview.tsx'), 'Overview'),
  ),
  screen(
    '/tasks',
    lazyRouteComponent(() => import('../screens/tasks/tasks.tsx'), 'Tasks'),
  ),
  screen(
    '/tasks/$task_id',
    lazyRouteComponent(() => import('../screens/tasks/task.tsx'), 'Task'),
  ),
  screen(
    '/conversations',
    lazyRouteComponent(() => import('../screens/conversations/conversations.tsx'), 'Conversations'),
  ),
  screen(
    '/conversations/$conversation_id',
    lazyRouteComponent(() => import('../screens/conversations/conversation.tsx'), 'Conversation'),
  ),
  screen(
    '/traces/$trace_id',
    lazyRouteComponent(() => import('../screens/traces/trace.tsx'), 'Trace'),
  ),
  screen(
    '/compare',
    lazyRouteComponent(() => import('../screens/traces/compare.tsx'), 'Compare'),
  ),
  screen(
    '/findings',
    lazyRouteComponent(() => import('../screens/findings/findings.tsx'), 'Findings'),
  ),
  screen(
    '/query',
    lazyRouteComponent(() => import('../screens/query/query.tsx'), 'Query'),
  ),
  screen(
    '/incidents',
    lazyRouteComponent(() => import('../screens/incidents/incidents.tsx'), 'Incidents'),
  ),
  screen(
    '/incidents/$incident_id',
    lazyRouteComponent(() => import('../screens/incidents/incident.tsx'), 'Incident'),
  ),
  screen(
    '/rules',
    lazyRouteComponent(() => import('../screens/rules/rules.tsx'), 'Rules'),
  ),
  screen(
    '/rules/$rule_id',
    lazyRouteComponent(() => import('../screens/rules/rule.tsx'), 'Rule'),
  ),
  screen(
    '/suppressions',
    lazyRouteComponent(() => import('../screens/suppressions/suppressions.tsx'), 'Suppressions'),
  ),
  screen(
    '/channels',
    lazyRouteComponent(() => import('../screens/channels/channels.tsx'), 'Channels'),
  ),
  screen(
    '/verification',
    lazyRouteComponent(() => import('../screens/verification/verification.tsx'), 'Verification'),
  ),
  screen(
    '/feedback',
    lazyRouteComponent(() => import('../screens/feedback/feedback.tsx'), 'Feedback'),
  ),
  screen(
    '/review',
    lazyRouteComponent(() => import('../screens/feedback/review.tsx'), 'Review'),
  ),
  screen(
    '/certification',
    lazyRouteComponent(() => import('../screens/certification/certification.tsx'), 'Certification'),
  ),
  screen(
    '/retention',
    lazyRouteComponent(() => import('../screens/retention/retention.tsx'), 'Retention'),
  ),
  screen(
    '/archives',
    lazyRouteComponent(() => import('../screens/archives/archives.tsx'), 'Archives'),
  ),
  screen(
    '/erasures',
    lazyRouteComponent(() => import('../screens/erasures/erasures.tsx'), 'Erasures'),
  ),
  screen(
    '/stores',
    lazyRouteComponent(() => import('../screens/stores/stores.tsx'), 'Stores'),
  ),
  screen(
    '/connect',
    lazyRouteComponent(() => import('../screens/connect/connect.tsx'), 'Connect'),
  ),
  screen(
    '/access',
    lazyRouteComponent(() => import('../screens/access/access.tsx'), 'Access'),
  ),
  screen(
    '/audit',
    lazyRouteComponent(() => import('../screens/audit/audit.tsx'), 'Audit'),
  ),
  screen(
    '/settings',
    lazyRouteComponent(() => import('../screens/settings/settings.tsx'), 'Settings'),
  ),
]

/** The screens by URL. Everything that a screen shows is in its URL. */
export const router = createRouter({
  routeTree: root.addChildren([start, signIn, setPassword, project.addChildren(screens)]),
  parseSearch,
  stringifySearch: formatSearch,
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error, reset }) => <Fault error={error} retry={reset} />,
  defaultNotFoundComponent: NotFound,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** The page of an address that has no screen. */
function NotFound() {
  return (
    <Empty title="There is no such page">
      <p>The address may be cut, or come from another version.</p>
      <Link to="/">Go to the start</Link>
    </Empty>
  )
}

import { sameness, spreadOf, within } from './figures.ts'
import type { RouteFacts } from './routes.ts'

/** The cost of a question through the API. */
export function routeSection(routes: readonly RouteFacts[]): string {
  return `### Through the API

The same questions by \`POST /api/v2/observability/query\` and \`…/aggregate\` of an \`api\` process: sign-in token
checked, body parsed, store chosen, statement compiled and run within its limits, answer checked and sent.
Wall time in ms at a client on the same machine, until it has parsed the JSON; each round also runs the
handwritten SQL. \`explain\` is \`…/query/explain\` of the same body.

| question | ms | spread | goal | | by hand | route − by hand | explain | goal | | same answer |
|---|---|---|---|---|---|---|---|---|---|---|
${routes.map(routeLine).join('\n')}
`
}

const explainGoalMs = 20

function routeLine(facts: RouteFacts): string {
  const { name, goal_ms, route_ms, spread_ms, hand_ms, overhead_ms, explain_ms, equal } = facts
  return `| ${[
    name,
    `**${route_ms.toFixed(1)}**`,
    spreadOf(spread_ms),
    `≤ ${goal_ms}`,
    within(route_ms, goal_ms),
    hand_ms.toFixed(1),
    overhead_ms.toFixed(1),
    explain_ms.toFixed(1),
    `≤ ${explainGoalMs}`,
    within(explain_ms, explainGoalMs),
    sameness(equal),
  ].join(' | ')} |`
}

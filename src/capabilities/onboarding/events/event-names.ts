/** Names of events that clients may post, with their meanings. Other names are refused. */
export const eventNames = {
  installed: 'The chart, the image or `make run` was installed and answers.',
  upgraded: 'The installation was upgraded to another version.',
  key_created: 'A project key was created or stored where the agent reads it.',
  sdk_configured: 'The base URL or the exporter of an application was pointed at Looptrace.',
  first_call: 'The first completion went through the proxy.',
  first_span: 'The first OTLP span was accepted.',
  first_task: 'The first task with a name of its own was read.',
  first_verdict: 'The first verdict of a task was read.',
  first_verification: 'The first verified answer was read.',
  first_incident_rule: 'The first incident rule was created.',
  first_channel: 'The first notification channel was created.',
  first_feedback: 'The first feedback was sent.',
  scenario_started: 'The seeded reliability scenario was started.',
  scenario_ended: 'The seeded reliability scenario ended, and its result was read.',
  doctor_run: '`looptrace doctor` was run.',
  docs_opened: 'A guide or a page of the reference was opened.',
  console_opened: 'A page for people was opened.',
} as const

export type EventName = keyof typeof eventNames

export const eventNameList = Object.keys(eventNames) as EventName[]

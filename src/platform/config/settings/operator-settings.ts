import { flag, hours, integer, minutes, seconds, secret, text, url } from '../setting.ts'

/** The operator: what it watches, whom it drives, and its bounds. */
export const operatorSettings = {
  service_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'The API that resources are brought to; the default is role `all` beside the operator.',
  }),
  operator_namespaces: text({
    unit: 'names',
    reason: 'Namespaces whose resources are followed, apart by commas; all of them when unset.',
  }),
  operator_projects: text({
    unit: 'JSON',
    reason:
      'Which projects the resources of a namespace may name, such as `{"team-a": ["checkout"], "*": ["sandbox"]}`; unset, who may write resources anywhere can have keys of every project.',
  }),
  operator_leader_election: flag({
    unit: 'flag',
    default: true,
    reason: 'Several operators agree by a Lease on who works; off for one that is alone for sure.',
  }),
  operator_namespace: text({
    unit: 'name',
    default: 'default',
    reason: 'Namespace of the Lease; that of the operator, so that a Role suffices.',
  }),
  operator_lease: text({
    unit: 'name',
    default: 'looptrace-operator',
    reason: 'Name of the Lease; another one for another installation in the same namespace.',
  }),
  operator_lease_ms: integer({
    unit: 'ms',
    default: 15 * seconds,
    min: 2 * seconds,
    max: 5 * minutes,
    reason: 'How long a Lease that is not renewed keeps others waiting.',
  }),
  operator_renew_deadline_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: seconds,
    max: 4 * minutes,
    reason: 'A leader that could not renew for so long ends; shorter than the Lease.',
  }),
  operator_retry_ms: integer({
    unit: 'ms',
    default: 2 * seconds,
    min: 200,
    max: minutes,
    reason: 'How often the Lease is renewed or sought.',
  }),
  operator_workers: integer({
    unit: 'reconciles',
    default: 8,
    min: 1,
    max: 64,
    reason: 'Resources of one kind that are worked on at a time.',
  }),
  operator_request_timeout_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: seconds,
    max: minutes,
    reason: 'A request to the API server that takes longer counts as not answered.',
  }),
  operator_service_timeout_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: seconds,
    max: minutes,
    reason: 'A request to the service that takes longer counts as not answered.',
  }),
  operator_service_requests_max: integer({
    unit: 'requests',
    default: 16,
    min: 1,
    max: 256,
    reason: 'Requests to the service at a time, of all kinds together.',
  }),
  operator_relist_ms: integer({
    unit: 'ms',
    default: 10 * minutes,
    min: 10 * seconds,
    max: 24 * hours,
    reason: 'How often whole lists are read again, whatever the watches said.',
  }),
  operator_watch_idle_ms: integer({
    unit: 'ms',
    default: 2 * minutes,
    min: 5 * seconds,
    max: hours,
    reason: 'A watch silent for so long is begun anew; servers send a bookmark a minute.',
  }),
}

/** The key that the operator of a cluster signs in with; the service takes the same one. */
export const operatorKeySettings = {
  operator_key: secret({
    min_characters: 47,
    reason:
      'Key of the operator, `lt_op_…`: roles `migrate` and `all` let it in, the operator sends it. Role `all` makes one in `operator-key` of its data directory.',
  }),
  operator_key_file: text({
    unit: 'path',
    reason: 'A file that holds the key of the operator, in place of the variable.',
  }),
}

import { flag, hours, integer, minutes, origin, seconds, secret, text, url } from '../setting.ts'

/** Settings of the operator. */
export const operatorSettings = {
  service_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'API that the operator configures. The default is role `all` on the same machine.',
  }),
  operator_namespaces: text({
    unit: 'names',
    reason: 'Watched namespaces, separated by commas. When unset, all namespaces are watched.',
  }),
  operator_namespace_selector: text({
    unit: 'JSON',
    reason:
      'Label selector of the namespaces whose resources are served, as `{"matchLabels", "matchExpressions"}`. When unset, resources in all watched namespaces are served. Excludes `LOOPTRACE_OPERATOR_NAMESPACES`.',
  }),
  operator_proxy_url: origin({
    unit: 'URL',
    reason:
      'Origin at which applications reach completions and OTLP, for the templates of Secrets. Default: `http://127.0.0.1:8080`. The chart sets it to the Service.',
  }),
  operator_grants: text({
    unit: 'JSON',
    reason:
      'ProjectGrants of this installation, as a list of `{"name", "spec"}`. The operator applies them, and deletes those that are no longer in the list. The chart sets this.',
  }),
  operator_default_rules: text({
    unit: 'JSON',
    reason:
      'IncidentRules in the namespace of the Lease, as a list of `{"name", "spec"}`. The operator applies them, and deletes those that are no longer in the list. The chart sets this.',
  }),
  operator_class: text({
    unit: 'name',
    default: 'default',
    reason:
      'Class of the resources that the operator serves (`spec.className`). Two installations in one cluster need two classes, or different namespaces.',
  }),
  operator_installation: text({
    unit: 'name',
    default: 'looptrace',
    reason:
      'Name of the installation. With the namespace of the Lease it identifies the owner of service accounts and Secrets, so do not change it.',
  }),
  operator_leader_election: flag({
    unit: 'flag',
    default: true,
    reason:
      'Whether operators elect a leader with a Lease. Turn it off only for a single operator.',
  }),
  operator_namespace: text({
    unit: 'name',
    default: 'default',
    reason: 'Namespace of the Lease. Use the namespace of the operator, so that a Role is enough.',
  }),
  operator_lease: text({
    unit: 'name',
    default: 'looptrace-operator',
    reason: 'Name of the Lease. Use a different name for each installation in the same namespace.',
  }),
  operator_lease_ms: integer({
    unit: 'ms',
    default: 15 * seconds,
    min: 2 * seconds,
    max: 5 * minutes,
    reason: 'Lease duration: time after which another operator can take an expired Lease.',
  }),
  operator_renew_deadline_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: seconds,
    max: 4 * minutes,
    reason: 'Time after which a leader that cannot renew its Lease exits. Shorter than the Lease.',
  }),
  operator_retry_ms: integer({
    unit: 'ms',
    default: 2 * seconds,
    min: 200,
    max: minutes,
    reason: 'Interval of attempts to acquire or renew the Lease.',
  }),
  operator_workers: integer({
    unit: 'reconciles',
    default: 8,
    min: 1,
    max: 64,
    reason: 'Maximum concurrent reconciles per kind.',
  }),
  operator_request_timeout_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: seconds,
    max: minutes,
    reason: 'Maximum time of a request to the Kubernetes API server.',
  }),
  operator_service_timeout_ms: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: seconds,
    max: minutes,
    reason: 'Maximum time of a request to the Looptrace API.',
  }),
  operator_service_requests_max: integer({
    unit: 'requests',
    default: 16,
    min: 1,
    max: 256,
    reason: 'Maximum concurrent requests to the Looptrace API, over all kinds.',
  }),
  operator_relist_ms: integer({
    unit: 'ms',
    default: 10 * minutes,
    min: 10 * seconds,
    max: 24 * hours,
    reason: 'Interval of full relists, in addition to watches.',
  }),
  operator_watch_idle_ms: integer({
    unit: 'ms',
    default: 2 * minutes,
    min: 5 * seconds,
    max: hours,
    reason: 'Silence after which a watch is restarted. Servers send a bookmark every minute.',
  }),
  operator_orphan_grace_ms: integer({
    unit: 'ms',
    default: hours,
    min: minutes,
    max: 30 * 24 * hours,
    reason:
      'Time after which keys are revoked whose resource is gone without its removal, for example because its finalizer was removed by hand.',
  }),
}

/** The key of the operator, shared by the operator and the service. */
export const operatorKeySettings = {
  operator_key: secret({
    min_characters: 47,
    reason:
      'Key of the operator, `lt_op_…`. Roles `migrate` and `all` register it, and the operator signs in with it. Role `all` generates one in `operator-key` of its data folder.',
  }),
  operator_key_file: text({
    unit: 'path',
    reason: 'File with the key of the operator, instead of the variable.',
  }),
}

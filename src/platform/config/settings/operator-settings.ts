import { flag, hours, integer, minutes, origin, secret, text, url } from '../setting.ts'

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

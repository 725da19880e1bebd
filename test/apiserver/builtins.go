package main

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtin is a resource that a real server has compiled in.
type builtin struct {
	version          schema.GroupVersion
	plural, singular string
	shortNames       []string
	object, list     runtime.Object
	clusterScoped    bool
	// hasStatus gives it a status subresource.
	hasStatus bool
}

var builtins = []builtin{
	{corev1.SchemeGroupVersion, "namespaces", "namespace", []string{"ns"}, &corev1.Namespace{}, &corev1.NamespaceList{}, true, true},
	{corev1.SchemeGroupVersion, "secrets", "secret", nil, &corev1.Secret{}, &corev1.SecretList{}, false, false},
	{corev1.SchemeGroupVersion, "configmaps", "configmap", []string{"cm"}, &corev1.ConfigMap{}, &corev1.ConfigMapList{}, false, false},
	{corev1.SchemeGroupVersion, "events", "event", []string{"ev"}, &corev1.Event{}, &corev1.EventList{}, false, false},
	{corev1.SchemeGroupVersion, "serviceaccounts", "serviceaccount", []string{"sa"}, &corev1.ServiceAccount{}, &corev1.ServiceAccountList{}, false, false},
	{corev1.SchemeGroupVersion, "services", "service", []string{"svc"}, &corev1.Service{}, &corev1.ServiceList{}, false, true},
	{corev1.SchemeGroupVersion, "pods", "pod", []string{"po"}, &corev1.Pod{}, &corev1.PodList{}, false, true},
	{corev1.SchemeGroupVersion, "persistentvolumeclaims", "persistentvolumeclaim", []string{"pvc"}, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaimList{}, false, true},
	{coordinationv1.SchemeGroupVersion, "leases", "lease", nil, &coordinationv1.Lease{}, &coordinationv1.LeaseList{}, false, false},
	{eventsv1.SchemeGroupVersion, "events", "event", []string{"ev"}, &eventsv1.Event{}, &eventsv1.EventList{}, false, false},
	{rbacv1.SchemeGroupVersion, "roles", "role", nil, &rbacv1.Role{}, &rbacv1.RoleList{}, false, false},
	{rbacv1.SchemeGroupVersion, "rolebindings", "rolebinding", nil, &rbacv1.RoleBinding{}, &rbacv1.RoleBindingList{}, false, false},
	{rbacv1.SchemeGroupVersion, "clusterroles", "clusterrole", nil, &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleList{}, true, false},
	{rbacv1.SchemeGroupVersion, "clusterrolebindings", "clusterrolebinding", nil, &rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRoleBindingList{}, true, false},
	{appsv1.SchemeGroupVersion, "deployments", "deployment", []string{"deploy"}, &appsv1.Deployment{}, &appsv1.DeploymentList{}, false, true},
	{appsv1.SchemeGroupVersion, "statefulsets", "statefulset", []string{"sts"}, &appsv1.StatefulSet{}, &appsv1.StatefulSetList{}, false, true},
	{batchv1.SchemeGroupVersion, "jobs", "job", nil, &batchv1.Job{}, &batchv1.JobList{}, false, true},
	{batchv1.SchemeGroupVersion, "cronjobs", "cronjob", []string{"cj"}, &batchv1.CronJob{}, &batchv1.CronJobList{}, false, true},
	{networkingv1.SchemeGroupVersion, "networkpolicies", "networkpolicy", []string{"netpol"}, &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicyList{}, false, false},
	{networkingv1.SchemeGroupVersion, "ingresses", "ingress", []string{"ing"}, &networkingv1.Ingress{}, &networkingv1.IngressList{}, false, true},
	{policyv1.SchemeGroupVersion, "poddisruptionbudgets", "poddisruptionbudget", []string{"pdb"}, &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{}, false, true},
	{autoscalingv2.SchemeGroupVersion, "horizontalpodautoscalers", "horizontalpodautoscaler", []string{"hpa"}, &autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscalerList{}, false, true},
	{storagev1.SchemeGroupVersion, "storageclasses", "storageclass", []string{"sc"}, &storagev1.StorageClass{}, &storagev1.StorageClassList{}, true, false},
	{admissionv1.SchemeGroupVersion, "validatingadmissionpolicies", "validatingadmissionpolicy", nil, &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyList{}, true, true},
	{admissionv1.SchemeGroupVersion, "validatingadmissionpolicybindings", "validatingadmissionpolicybinding", nil, &admissionv1.ValidatingAdmissionPolicyBinding{}, &admissionv1.ValidatingAdmissionPolicyBindingList{}, true, false},
	{admissionv1.SchemeGroupVersion, "validatingwebhookconfigurations", "validatingwebhookconfiguration", nil, &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfigurationList{}, true, false},
}

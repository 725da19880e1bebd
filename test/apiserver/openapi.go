package main

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// openAPIDefinitions are the generated ones of apiextensions, and an open object for each built-in:
// server-side apply then owns maps key by key, and lists as a whole.
func openAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	definitions := apiextensionsopenapi.GetOpenAPIDefinitions(ref)
	objectMeta := ref(util.GetCanonicalTypeName(metav1.ObjectMeta{}))
	listMeta := ref(util.GetCanonicalTypeName(metav1.ListMeta{}))
	for _, one := range builtins {
		object := util.GetCanonicalTypeName(one.object)
		list := util.GetCanonicalTypeName(one.list)
		definitions[object] = openObject(kindOf(one.object), objectMeta, nil)
		item := spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(object)}}
		definitions[list] = openObject(kindOf(one.list), listMeta, &item)
	}
	review := util.GetCanonicalTypeName(&authorizationv1.SelfSubjectAccessReview{})
	definitions[review] = openObject("SelfSubjectAccessReview", objectMeta, nil)
	return definitions
}

func openObject(kind string, metadata spec.Ref, item *spec.Schema) common.OpenAPIDefinition {
	text := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}}}
	properties := map[string]spec.Schema{
		"apiVersion": text,
		"kind":       text,
		"metadata":   {SchemaProps: spec.SchemaProps{Ref: metadata, Default: map[string]any{}}},
	}
	if item != nil {
		properties["items"] = spec.Schema{SchemaProps: spec.SchemaProps{
			Type:  spec.StringOrArray{"array"},
			Items: &spec.SchemaOrArray{Schema: item},
		}}
	}
	schema := spec.Schema{SchemaProps: spec.SchemaProps{
		Description: kind + " as a client sent it; its fields are not described here.",
		Type:        spec.StringOrArray{"object"},
		Properties:  properties,
	}}
	schema.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	dependencies := []string{util.GetCanonicalTypeName(metav1.ObjectMeta{})}
	if item != nil {
		dependencies = []string{util.GetCanonicalTypeName(metav1.ListMeta{})}
	}
	return common.OpenAPIDefinition{
		Schema:       schema,
		Dependencies: dependencies,
	}
}

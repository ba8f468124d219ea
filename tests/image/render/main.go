// Renders a Helm chart where Helm cannot be had: Go's templates with the functions of sprig, as Helm uses them.
// Usage: render FOLDER VALUES.yaml, where the file's values win over those of the chart.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) map[string]interface{} {
	values := map[string]interface{}{}
	content, err := os.ReadFile(path)
	check(err)
	check(yaml.UnmarshalStrict(content, &values))
	return values
}

func merge(base, over map[string]interface{}) {
	for name, value := range over {
		known, isMap := base[name].(map[string]interface{})
		given, isToo := value.(map[string]interface{})
		if isMap && isToo {
			merge(known, given)
		} else {
			base[name] = value
		}
	}
}

func main() {
	folder := os.Args[1]
	values := read(filepath.Join(folder, "values.yaml"))
	merge(values, read(os.Args[2]))
	about := read(filepath.Join(folder, "Chart.yaml"))
	chart := map[string]interface{}{}
	for name, value := range about {
		chart[strings.ToUpper(name[:1])+name[1:]] = value
	}
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		check(err)
		return strings.TrimSuffix(string(text), "\n")
	}
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		check(err)
		_, err = all.New(filepath.Base(file)).Parse(string(content))
		check(err)
	}
	data := map[string]interface{}{
		"Values":  values,
		"Chart":   chart,
		"Release": map[string]interface{}{"Name": "docent", "Namespace": "default", "Service": "Helm"},
	}
	for _, file := range files {
		name := filepath.Base(file)
		var text bytes.Buffer
		check(all.ExecuteTemplate(&text, name, data))
		if strings.HasSuffix(name, ".yaml") {
			fmt.Printf("---\n# Source: %s\n%s\n", name, text.String())
		}
	}
}
